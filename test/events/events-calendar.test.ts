import ICAL from 'ical.js';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { eventPath, givenEvent } from './requests.ts';

const calendar = 'text/calendar';
const read = async (client: Client, path: string) => {
  const reply = await client.get(path).set('accept', `${calendar}; charset=utf-8`).expect(200);
  expect(reply.headers['content-type']).toBe('text/calendar; charset=utf-8');
  return reply;
};

/** What a parser that is not ours finds. */
function entriesOf(text: string) {
  const parsed = new ICAL.Component(ICAL.parse(text));
  expect(parsed.name).toBe('vcalendar');
  expect(parsed.getFirstPropertyValue('version')).toBe('2.0');
  expect(parsed.getFirstPropertyValue('prodid')).toBe('-//Tallystick//Events//EN');
  return parsed.getAllSubcomponents().map((component) => {
    expect(component.name).toBe('vevent');
    const value = (name: string) => component.getFirstPropertyValue(name);
    const time = (name: string) => {
      const at = value(name);
      if (!(at instanceof ICAL.Time)) return null;
      expect(at.zone).toBe(ICAL.Timezone.utcTimezone);
      return at.toJSDate().toISOString();
    };
    return {
      uid: value('uid'),
      sequence: value('sequence'),
      summary: value('summary'),
      location: value('location'),
      description: value('description'),
      start: time('dtstart'),
      end: time('dtend'),
      stamp: time('dtstamp'),
      changed: time('last-modified'),
    };
  });
}

const toSecond = (time: string) => time.replace(/\.\d{3}Z$/, '.000Z');

describe('an event', () => {
  test('is an entry with its times in UTC, whatever offset they were sent with', async ({ acme }) => {
    const { id } = await givenEvent(acme, {
      name: 'Harvest supper',
      location: 'Long barn, Ely',
      description: 'Supper.',
      startDate: '2027-03-28T01:30:00+01:00',
      endDate: '2027-03-28T03:30:00+02:00',
    });
    const { text, headers } = await read(acme, `${eventPath}/${id}`);
    const { body } = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(headers['etag']).toBeDefined();
    expect(entriesOf(text)).toEqual([
      {
        uid: id,
        sequence: 0,
        summary: 'Harvest supper',
        location: 'Long barn, Ely',
        description: 'Supper.',
        start: '2027-03-28T00:30:00.000Z',
        end: '2027-03-28T01:30:00.000Z',
        stamp: toSecond(body.updatedAt),
        changed: toSecond(body.updatedAt),
      },
    ]);
  });

  test('keeps its UID and gets a higher SEQUENCE with each change', async ({ acme }) => {
    const { id } = await givenEvent(acme, { startDate: '2027-01-01' });
    for (const sequence of [1, 2]) {
      await acme
        .patch(`${eventPath}/${id}`)
        .send({ name: `Fair ${sequence}` })
        .expect(200);
      const { text } = await read(acme, `${eventPath}/${id}`);
      expect(entriesOf(text)).toMatchObject([{ uid: id, sequence, summary: `Fair ${sequence}` }]);
    }
  });

  test.for([
    ['at its start', '2027-01-01T10:00:00Z', '2027-01-01T10:00:00Z', null],
    ['in the second of its start', '2027-01-01T10:00:00.1Z', '2027-01-01T10:00:00.9Z', null],
    ['in the next second', '2027-01-01T10:00:00.9Z', '2027-01-01T10:00:01.1Z', '2027-01-01T10:00:01.000Z'],
    ['never', '1000-01-01T00:00:00Z', null, null],
    ['in the last year', '9999-12-31T10:00:00Z', '9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ] as const)('that ends %s has no end before its start', async ([_, startDate, endDate, end], { acme }) => {
    const { id } = await givenEvent(acme, { startDate, endDate });
    const [entry] = entriesOf((await read(acme, `${eventPath}/${id}`)).text);
    expect(entry).toMatchObject({ start: toSecond(new Date(startDate).toISOString()), end });
  });

  test.for([
    [
      'lines',
      'Fair\r\nBEGIN:VEVENT\nUID:x\rEND:VEVENT\r\nEND:VCALENDAR',
      'Fair\nBEGIN:VEVENT\nUID:x\nEND:VEVENT\nEND:VCALENDAR',
    ],
    ['separators', 'a,b;c:d\\n"e"\\,', 'a,b;c:d\\n"e"\\,'],
    ['control characters', 'a\u0007b\u001bc\u007f\td', 'abc\td'],
    ['wide characters', '\u{1f33e}ü漢'.repeat(60), '\u{1f33e}ü漢'.repeat(60)],
    ['a long word', 'x'.repeat(1_000), 'x'.repeat(1_000)],
  ] as const)('with %s in its texts stays one entry with those texts', async ([_, text, shown], { acme }) => {
    const { id } = await givenEvent(acme, {
      name: `Fair ${text.slice(0, 100)}`,
      description: text,
      location: text,
      startDate: '2027-01-01',
    });
    const reply = await read(acme, `${eventPath}/${id}`);
    expect(entriesOf(reply.text)).toMatchObject([
      { uid: id, summary: `Fair ${shown.slice(0, 100)}`, description: shown, location: shown },
    ]);
    for (const line of reply.text.split('\r\n')) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
      expect(line).not.toMatch(/[\r\n]/);
    }
    expect(reply.text.endsWith('END:VCALENDAR\r\n')).toBe(true);
  });

  test('of the year 1 has a year of four digits', async ({ acme }) => {
    const { id } = await givenEvent(acme, { startDate: '0001-01-01' });
    expect((await read(acme, `${eventPath}/${id}`)).text).toContain('\r\nDTSTART:00010101T000000Z\r\n');
  });

  test('without a start is in no calendar', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    expect(entriesOf((await read(acme, `${eventPath}/${id}`)).text)).toEqual([]);
  });

  test('of another company is a problem, and no calendar', async ({ acme, globex }) => {
    const { id } = await givenEvent(acme, { startDate: '2027-01-01' });
    const reply = await globex.get(`${eventPath}/${id}`).set('accept', calendar).expect(404);
    expect(reply.body.code).toBe('event_not_found');
  });
});

describe('the list', () => {
  test('is a calendar of all events that match, across batches, of this company only', async ({
    globex,
    acme,
    service,
    db,
  }) => {
    await givenEvent(acme, { startDate: '2031-06-01' });
    const [before, undated] = [
      await givenEvent(globex, { startDate: '2029-01-01' }),
      await givenEvent(globex),
    ];
    const made = await db('events')
      .insert(
        Array.from({ length: 450 }, (_, index) => ({
          company_id: service.companies.globex,
          name: `Fair ${index}`,
          start_date: new Date(Date.UTC(2031, 0, 1, index)),
        })),
      )
      .returning('id');
    const uids = async (query = '') =>
      entriesOf((await read(globex, `${eventPath}${query}`)).text).map(({ uid }) => uid);
    const all = await uids();
    expect(all.toSorted()).toEqual([before.id, ...made.map(({ id }) => id)].toSorted());
    expect(all).not.toContain(undated.id);
    expect(await uids('?startsFrom=2031-01-01&limit=5')).toHaveLength(450);
    expect(await uids('?startsTo=2030-01-01')).toEqual([before.id]);
    expect(await uids('?startsFrom=9999-12-31')).toEqual([]);
    const { headers } = await read(globex, `${eventPath}?startsFrom=2031-01-01`);
    expect(headers['x-total-count']).toBe('450');
  });

  test.for(['*/*', 'application/json', 'image/png'])(
    'stays JSON for Accept: %s',
    async (accept, { acme }) => {
      const { body } = await acme.get(`${eventPath}?limit=1`).set('accept', accept).expect(200);
      expect(body).toBeInstanceOf(Array);
    },
  );
});
