import { expect } from 'vitest';
import { foldCounts } from '../../src/db/list-folds-store.ts';
import { listAndCount } from '../../src/events/event-list-store.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';

const company = 'seasons';
const many = 4_000;
const day = (text: string) => ({
  startsFrom: new Date(`${text}T00:00:00Z`),
  startsTo: new Date(`${text}T23:59:59Z`),
});

// Imported at once, with starts here and there in a year: each stretch of the list has some of each season.
test.beforeAll(async ({ db }) => {
  await db.raw(
    `INSERT INTO events (company_id, name, start_date, created_at)
     SELECT ?, n, timestamptz '2027-01-01 12:00Z' + (n * 7919 % 364) * interval '1 day'
       + CASE WHEN (n * 7919 % 364) >= 200 THEN interval '1 day' ELSE interval '0' END,
       timestamptz '2026-01-01' + n * interval '1 millisecond'
     FROM generate_series(1, ?) AS n`,
    [company, many],
  );
  while ((await foldCounts(db)) > 0);
  await db.raw('VACUUM ANALYZE events, list_counts, list_changes');
});

test('a day on which nothing starts is found so without reading the others', async ({ db }) => {
  const ask = () => listAndCount(db, company, day('2027-07-20'), { limit: 20 });
  expect(await ask()).toEqual([[], 0]);
  expect(await rowsReadBy(db, 'events', ask)).toBeLessThan(5);
});

test('a day on which few start has them, newest first, page by page', async ({ db }) => {
  const rows = await db('events')
    .where({ company_id: company })
    .whereBetween('start_date', [day('2027-03-05').startsFrom, day('2027-03-05').startsTo])
    .orderBy('created_at', 'desc')
    .select('id');
  const [first, total] = await listAndCount(db, company, day('2027-03-05'), { limit: 4 });
  const last = first.at(-1);
  if (last === undefined) throw new Error('no page');
  const [second] = await listAndCount(db, company, day('2027-03-05'), { limit: 4, after: last });
  expect(total).toBe(rows.length);
  expect([...first, ...second].map(({ id }) => id)).toEqual(rows.slice(0, 8).map(({ id }) => id));
  const ask = () => listAndCount(db, company, day('2027-03-05'), { limit: 4 });
  expect(await rowsReadBy(db, 'events', ask)).toBeLessThan(5 * total);
});
