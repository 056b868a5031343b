import { parse } from 'csv-parse/sync';
import { describe, expect } from 'vitest';
import { test } from '../../support/fixtures.ts';
import { givenAttendees, givenEvent, unknownId } from '../requests.ts';
import { checkinPath, scanOf, send, undoOf } from './door-scans.ts';

const at = (id: string, query = '') => `${checkinPath(id)}/scans${query}`;
const names = [
  ...['scan_id', 'kind', 'at', 'gate', 'attendee_id', 'ticket_id', 'undoes', 'status', 'received_at'],
];

describe('200', () => {
  test('lists all scans in the order of arrival, with what each comes to now', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const exit = scanOf('ann', 50, { kind: 'exit', gate: '=South' });
    const [first] = await send(acme, id, { attendeeId: 'bob' });
    const undo = undoOf(exit.scanId);
    const alone = undoOf(unknownId);
    const all = [
      scanOf('ann', 40),
      scanOf('ann', 60, { gate: 'North' }),
      exit,
      undo,
      alone,
      undoOf(undo.scanId),
      scanOf('bob', 3_600, { kind: 'exit' }),
      scanOf('ann', 30, { kind: 'exit' }),
    ];
    for (const scan of all) await send(acme, id, scan);
    const { body } = await acme.get(at(id)).expect(200);
    const { ticketId } = body[1];
    expect(ticketId).toMatch(/^\d+$/);
    const ann = { attendeeId: 'ann', ticketId, undoes: null };
    const nobody = { attendeeId: null, ticketId: null };
    expect(body).toMatchObject([
      { scanId: first?.scanId, kind: 'entry', at: first?.checkedInAt, gate: null, status: 'admitted' },
      { ...ann, scanId: all[0]?.scanId, at: all[0]?.at, gate: null, status: 'already_admitted' },
      { ...ann, gate: 'North', status: 'admitted' },
      { ...ann, kind: 'exit', gate: '=South', status: 'undone' },
      { ...ann, kind: 'undo', undoes: exit.scanId, status: 'undone' },
      { ...nobody, undoes: unknownId, status: 'undone' },
      { ...nobody, undoes: undo.scanId, status: 'undo_of_undo' },
      { attendeeId: 'bob', kind: 'exit', status: 'not_inside' },
      { ...ann, kind: 'exit', status: 'exited' },
    ]);
    const { text, headers } = await acme.get(at(id)).set('accept', 'text/csv').expect(200);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    const cell = (value: string | null) => (value === '=South' ? "'=South" : (value ?? ''));
    expect(parse(text)).toEqual([
      names,
      ...body.map((scan: Record<string, string | null>) =>
        [...['scanId', 'kind', 'at', 'gate', 'attendeeId', 'ticketId', 'undoes', 'status', 'receivedAt']].map(
          (name) => cell(scan[name] ?? null),
        ),
      ),
    ]);
  });

  test('leads from page to page, and a file begins behind a cursor', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    for (const seconds of [5, 4, 3]) await send(acme, id, scanOf('ann', seconds));
    const all = (await acme.get(at(id)).expect(200)).body;
    const page = await acme.get(at(id, '?limit=2')).expect(200);
    expect(page.body).toEqual(all.slice(0, 2));
    const cursor = page.headers['x-next-cursor'];
    const next = await acme.get(at(id, `?limit=2&cursor=${cursor}`)).expect(200);
    expect([next.body, next.headers['link']]).toEqual([all.slice(2), undefined]);
    const { text } = await acme
      .get(at(id, `?cursor=${cursor}`))
      .set('accept', 'text/csv')
      .expect(200);
    expect(parse(text)).toHaveLength(2);
  });

  test('sends more scans than a batch', async ({ acme, db, service }) => {
    const { id } = await givenEvent(acme);
    const users = Array.from({ length: 1_100 }, (_, index) => `user-${index}`);
    await db('attendees').insert(
      users.map((attendee_id) => ({ company_id: service.companies.acme, event_id: id, attendee_id })),
    );
    await db('attendees').where({ event_id: id }).update({ checked_in_at: db.fn.now() });
    const { body } = await acme.get(at(id)).expect(200);
    expect(body).toHaveLength(1_100);
    expect((await acme.get(at(id)).set('accept', 'text/csv').expect(200)).text.split('\r\n')).toHaveLength(
      1_102,
    );
  });

  test('is empty for an event without scans', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    expect((await acme.get(at(id)).expect(200)).body).toEqual([]);
    const { text } = await acme.get(at(id)).set('accept', 'text/csv').expect(200);
    expect(text).toBe(`${names.join(',')}\r\n`);
  });
});

describe('400', () => {
  test.for(['?limit=0', '?limit=201', '?cursor=x', '?offset=1'])('rejects %s', async (query, { acme }) => {
    const { id } = await givenEvent(acme);
    await acme.get(at(id, query)).expect(400);
  });
});

describe('404', () => {
  test('is a problem of an event of another company, and of none', async ({ acme, globex }) => {
    const { id } = await givenEvent(acme);
    for (const path of [at(id), at(unknownId), at(id, '?limit=1')]) {
      expect((await globex.get(path).expect(404)).body.code).toBe('event_not_found');
      await globex.get(path).set('accept', 'text/csv').expect(404);
    }
  });
});
