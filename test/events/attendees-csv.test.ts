import { parse } from 'csv-parse/sync';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { scanOf, send } from './checkin/door-scans.ts';
import { eventPath, givenAttendees, givenEvent, unknownId } from './requests.ts';

const at = (id: string, query = '') => `${eventPath}/${id}/attendees${query}`;
const names = ['attendee_id', 'created_at', 'checked_in_at', 'label', 'state'];

describe('200', () => {
  test('sends all attendees as CSV, with hostile texts as they are', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const hostile = ['a,b', 'say "hi"', 'two\r\nlines', 'ümlaut \u{1f33e}', "o'Neil"];
    await givenAttendees(acme, id, ...hostile);
    await acme
      .post(`${eventPath}/${id}/checkin`)
      .send({ scans: [{ attendeeId: 'a,b' }] })
      .expect(200);
    const reply = await acme.get(at(id)).set('accept', 'text/csv').expect(200);
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
    const json = (await acme.get(at(id)).expect(200)).body;
    expect(parse(reply.text)).toEqual([
      names,
      ...json.map((attendee: Record<string, string | null>) => [
        attendee['attendeeId'],
        attendee['createdAt'],
        attendee['checkedInAt'] ?? '',
        '',
        attendee['checkedInAt'] === null ? 'registered' : 'inside',
      ]),
    ]);
    expect(json[0].checkedInAt).not.toBeNull();
  });

  test('has the label, the first entry and the state of each attendee', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    for (const attendeeId of ['ann', 'bob', 'cid'])
      await acme
        .post(at(id))
        .send({ attendeeId, label: `=${attendeeId}` })
        .expect(201);
    const entry = scanOf('ann', 60);
    await send(acme, id, entry, scanOf('bob', 50), scanOf('ann', 40, { kind: 'exit' }));
    const { text } = await acme.get(at(id)).set('accept', 'text/csv').expect(200);
    expect(parse(text)).toMatchObject([
      names,
      ['ann', {}, entry.at, "'=ann", 'outside'],
      ['bob', {}, {}, "'=bob", 'inside'],
      ['cid', {}, '', "'=cid", 'registered'],
    ]);
  });

  test.for([
    'text/csv; charset=utf-8',
    'text/csv;charset=UTF-8',
    'text/csv; charset="utf-8"',
    'application/json;q=0.5, text/csv; charset=utf-8',
    'text/*',
  ])('is a file for Accept: %s', async (accept, { acme }) => {
    const { id } = await givenEvent(acme);
    const reply = await acme.get(at(id)).set('accept', accept).expect(200);
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(reply.headers['preference-applied']).toBeUndefined();
    expect(reply.text.startsWith('attendee_id')).toBe(true);
  });

  test.for(['text/csv; charset=latin1', 'application/json; charset=utf-8', '*/*', 'text/html'])(
    'is a list for Accept: %s',
    async (accept, { acme }) => {
      const { id } = await givenEvent(acme);
      const reply = await acme.get(at(id)).set('accept', accept).expect(200);
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    },
  );

  test('begins with a byte order mark where the caller prefers that', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const reply = await acme.get(at(id)).set({ accept: 'text/csv', prefer: 'wait=1, BOM' }).expect(200);
    expect(reply.headers['preference-applied']).toBe('bom');
    expect(reply.text.startsWith('\uFEFFattendee_id,')).toBe(true);
    const list = await acme.get(at(id)).set('prefer', 'bom').expect(200);
    expect([list.headers['preference-applied'], list.body]).toEqual([undefined, []]);
  });

  test('gives an apostrophe to what a spreadsheet would run', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, '=HYPERLINK("https://x.example")', '+1', '@a');
    const { text } = await acme.get(at(id)).set('accept', 'text/csv').expect(200);
    const [, ...rows] = parse(text) as string[][];
    expect(rows.map(([attendeeId]) => attendeeId)).toEqual([
      '\'=HYPERLINK("https://x.example")',
      "'+1",
      "'@a",
    ]);
  });

  test('begins behind a cursor, and does not end with a page', async ({ acme, db, service }) => {
    const { id } = await givenEvent(acme);
    const users = Array.from({ length: 2_500 }, (_, index) => `user-${index}`);
    await db('attendees').insert(
      users.map((attendee_id) => ({ company_id: service.companies.acme, event_id: id, attendee_id })),
    );
    const page = await acme.get(at(id, '?limit=2')).expect(200);
    const query = `?limit=2&cursor=${page.headers['x-next-cursor']}`;
    const { text } = await acme.get(at(id, query)).set('accept', 'text/csv').expect(200);
    const [, ...rows] = parse(text) as string[][];
    const order = (await acme.get(at(id)).expect(200)).body.map(
      ({ attendeeId }: { attendeeId: string }) => attendeeId,
    );
    expect(rows.map(([attendeeId]) => attendeeId)).toEqual(order.slice(2));
  });

  test('is a line of names for an event without attendees', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const { text } = await acme.get(at(id)).set('accept', 'text/csv').expect(200);
    expect(text).toBe(`${names.join(',')}\r\n`);
  });

  test.for(['*/*', 'application/json', 'image/png', 'text/csv;q=0.5, application/json'])(
    'stays JSON for Accept: %s',
    async (accept, { acme }) => {
      const { id } = await givenEvent(acme);
      expect((await acme.get(at(id)).set('accept', accept).expect(200)).body).toEqual([]);
    },
  );
});

describe('404', () => {
  test("is a problem, and no file, of another company's event", async ({ acme, globex }) => {
    const { id } = await givenEvent(acme);
    for (const path of [at(id), at(unknownId)]) {
      const reply = await globex.get(path).set('accept', 'text/csv').expect(404);
      expect(reply.body.code).toBe('event_not_found');
    }
  });
});
