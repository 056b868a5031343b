import { expect } from 'vitest';
import { atPrimary } from '../../src/db/replica/replica-reads.ts';
import { listAttendees, readAttendees } from '../../src/events/attendee-store.ts';
import { countEvents, listEvents, readAllEvents } from '../../src/events/event-list-store.ts';
import { findEvent } from '../../src/events/event-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { planOf, rowsReadBy, statementsOf } from '../support/statements.ts';

let popular: string;

// Enough rows and fresh statistics, so that the planner chooses as it does in production.
test.beforeAll(async ({ database }) => {
  const { db } = database;
  await db.raw(`
    INSERT INTO events (company_id, name, start_date, created_at)
    SELECT 'company ' || n % 10, 'event ' || n, timestamptz '2027-01-01' + n * interval '1 hour',
      timestamptz '2026-01-01' + n * interval '1 minute'
    FROM generate_series(1, 20000) AS n;
    INSERT INTO attendees (company_id, event_id, attendee_id)
    SELECT company_id, id, 'user ' || n FROM events CROSS JOIN generate_series(1, 4) AS n WHERE events.id IN (SELECT id FROM events ORDER BY created_at LIMIT 5000);
  `);
  await db.raw('VACUUM ANALYZE events, attendees');
  popular = (await db('events').where({ company_id: 'company 7' }).first('id')).id;
});

/** The plans of every SELECT that the work sends. */
async function plansOf({ db }: TestDatabase, work: () => Promise<unknown>): Promise<string[]> {
  const selects = (await statementsOf(db, work)).filter(({ sql }) => /^\s*select/i.test(sql));
  return Promise.all(selects.map((statement) => planOf(db, statement)));
}

const startsFrom = new Date('2027-03-01T00:00:00Z');
const startsTo = new Date('2027-03-02T00:00:00Z');

test.for([
  ['all events', {}, undefined],
  ['a page of events', {}, { limit: 20, offset: 40 }],
  ['the events of some days', { startsFrom, startsTo }, undefined],
  ['a page of the events that start later', { startsFrom }, { limit: 20 }],
] as const)('finds %s of a company by an index', async ([_, filter, page], { database }) => {
  const plans = await plansOf(database, async () => {
    await countEvents(database.db, 'company 7', filter);
    if (page) return listEvents(database.db, 'company 7', filter, page);
    const { rest } = await readAllEvents(atPrimary(database.db), 'company 7', filter);
    for await (const _batch of rest ?? []);
    return undefined;
  });
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    expect(plan).toMatch(/Index (Only )?Scan/);
    expect(plan).not.toMatch(/Seq Scan on events/);
  }
});

test.for([
  ['the newest events', {}],
  ['those behind an offset', { offset: 60 }],
] as const)('finds a page of %s in an index alone, in its order', async ([_, start], { database }) => {
  const [plan] = await plansOf(database, () =>
    listEvents(database.db, 'company 7', {}, { limit: 20, ...start }),
  );
  expect(plan).toMatch(/Index Only Scan using events_listed/);
});

test('finds one event by an index', async ({ database }) => {
  const [plan] = await plansOf(database, () => findEvent(database.db, 'company 7', popular));
  expect(plan).toMatch(/Index Scan/);
  expect(plan).not.toMatch(/Seq Scan/);
});

test('finds the attendees of an event by an index', async ({ database }) => {
  const [plan] = await plansOf(database, () => readAttendees(atPrimary(database.db), 'company 7', popular));
  expect(plan).toMatch(/Index (Only )?Scan.* on attendees/);
  expect(plan).not.toMatch(/Seq Scan/);
});

test('reads no more attendees than a page has', async ({ database: { db } }) => {
  await db.raw(
    `INSERT INTO attendees (company_id, event_id, attendee_id) SELECT 'company 7', ?, 'fan ' || n FROM generate_series(1, 500) n`,
    [popular],
  );
  const page = () => listAttendees(db, 'company 7', popular, { limit: 3, after: undefined });
  const last = (await page())?.at(-1);
  expect(await rowsReadBy(db, 'attendees', page)).toBe(3);
  const next = async () =>
    (await listAttendees(db, 'company 7', popular, { limit: 3, after: last?.place })) ?? [];
  expect((await next()).map(({ attendeeId }) => attendeeId)).toEqual(['user 4', 'fan 1', 'fan 2']);
  expect(await rowsReadBy(db, 'attendees', next)).toBe(3);
});

test('every foreign key of the two tables is the beginning of an index', async ({ database }) => {
  const { rows } = await database.db.raw(`
    SELECT conname FROM pg_constraint c
    WHERE contype = 'f' AND conrelid IN ('events'::regclass, 'attendees'::regclass)
      AND NOT EXISTS (
        SELECT FROM pg_index i
        WHERE i.indrelid = c.conrelid
          AND (i.indkey::int2[])[0:cardinality(c.conkey) - 1] = c.conkey
      )
  `);
  expect(rows).toEqual([]);
});
