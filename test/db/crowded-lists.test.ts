import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { findWrongCounters, recount } from '../../src/db/list-recount-store.ts';
import { settleCounts } from '../../src/db/list-splits-store.ts';
import { listEvents } from '../../src/events/event-list-store.ts';
import type { EventFilter } from '../../src/events/event-place.ts';
import type { RwaFilter } from '../../src/rwa/assets/rwa-ranges-store.ts';
import { listRwas } from '../../src/rwa/assets/rwa-store.ts';
import { addNetwork, contractAddress } from '../rwa/samples.ts';
import { expectTrueThroughout, someOf } from '../support/counted-lists.ts';
import { listEventsBothWays } from '../support/events.ts';
import { test } from '../support/fixtures.ts';
import { random, seed } from '../support/random.ts';
import { rowsReadBy } from '../support/statements.ts';

const company = 'crowded';
const limit = 50;

/** Rows of one moment, then some that follow each other by microseconds, as a file or a busy minute leaves them. */
const createdSql = `timestamptz '2026-01-01' + CASE WHEN n > :atOnce THEN (n * :step) * interval '1 microsecond' ELSE interval '0' END`;

async function addRows(db: Database, atOnce: number, after: number): Promise<void> {
  const names = { company, contractAddress, atOnce, count: atOnce + after };
  await db.raw(
    `INSERT INTO rwas (company_id, name, type, chain_id, contract_address, is_buyable, created_at)
     SELECT :company, 'rwa ' || n, CASE WHEN n % 9 = 0 THEN 'plot' ELSE 'cask' END, 31337, :contractAddress, n % 7 = 0, ${createdSql}
     FROM generate_series(1, :count::int) AS n`,
    { ...names, step: 1 },
  );
  await db.raw(
    `INSERT INTO events (company_id, name, created_at, start_date)
     SELECT :company, 'event ' || n, ${createdSql},
       CASE WHEN n % 5 > 0 THEN timestamptz '2026-03-01' + n % 1000 * interval '1 hour' END
     FROM generate_series(1, :count::int) AS n`,
    { ...names, step: 400 },
  );
}

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db('companies').insert({ id: company, name: company });
  await addRows(db, 6_000, 6_000);
  await settleCounts(db);
  await db.raw('VACUUM ANALYZE rwas, events, list_counts, list_changes, list_splits');
});

const rwaFilters: readonly RwaFilter[] = [
  {},
  { isBuyable: false },
  { type: 'plot' },
  { type: 'cask', isBuyable: true, includeArchived: true },
];

function rwasByRows(db: Database, { type, isBuyable, includeArchived }: RwaFilter): Promise<string[]> {
  const query = db('rwas').where('company_id', company).orderBy(['created_at', 'id']);
  if (type !== undefined) query.where({ type });
  if (isBuyable !== undefined) query.where({ is_buyable: isBuyable });
  if (!includeArchived) query.whereNull('archived_at');
  return query.pluck('id');
}

const eventFilters: readonly EventFilter[] = [
  {},
  { startsFrom: new Date('2026-02-01') },
  { startsFrom: new Date('2026-03-20'), startsTo: new Date('2026-04-09') },
  { startsTo: new Date('2026-03-01T01:00:00Z') },
];

function eventsByRows(db: Database, { startsFrom, startsTo }: EventFilter = {}): Promise<string[]> {
  const query = db('events').where('company_id', company);
  if (startsFrom) query.where('start_date', '>=', startsFrom.toISOString());
  if (startsTo) query.where('start_date', '<=', startsTo.toISOString());
  return query.orderByRaw('created_at DESC, id DESC').pluck('id');
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** Holds pages anywhere in the lists against all rows. */
async function expectTrue(db: Database): Promise<void> {
  for (const filter of rwaFilters) {
    const all = await rwasByRows(db, filter);
    for (const offset of [1, random(all.length), random(all.length), all.length - 1, all.length]) {
      const page = await listRwas(db, company, filter, { limit, offset });
      expect(idsOf(page)).toEqual(all.slice(offset, offset + limit));
    }
  }
  for (const filter of eventFilters) {
    const all = await eventsByRows(db, filter);
    for (const offset of [1, random(all.length), random(all.length), random(all.length), all.length - 1]) {
      const page = await listEventsBothWays(db, company, filter, { limit, offset });
      expect(idsOf(page)).toEqual(all.slice(offset, offset + limit));
      const [first, ...others] = page;
      const after = await listEventsBothWays(db, company, filter, { limit: limit - 1, after: first });
      expect(idsOf(after)).toEqual(idsOf(others));
    }
  }
}

const wrongCounters = async (db: Database) => [
  ...(await findWrongCounters(db, 'rwas')),
  ...(await findWrongCounters(db, 'events')),
];

/** Changes, deletes and adds some rows, each kind in a statement of its own. */
async function changeSome(db: Database): Promise<void> {
  const some = someOf(db, { company, random, among: 9_000, most: 80 });
  await db('rwas')
    .whereIn('id', some('rwas'))
    .update({ is_buyable: random(2) > 0, archived_at: random(2) > 0 ? new Date() : null });
  await db('rwas').whereIn('id', some('rwas')).delete();
  await db('events')
    .whereIn('id', some('events'))
    .update({ start_date: random(2) > 0 ? new Date() : null });
  await db('events').whereIn('id', some('events')).delete();
  await addRows(db, random(40), random(40));
}

describe(`a list with many rows in one stretch (SEED=${seed})`, () => {
  test('is read from near its offset, at one moment and from one microsecond to the next', async ({ db }) => {
    for (const offset of [3_000, 5_900, 9_000, 11_900]) {
      const rwas = () => listRwas(db, company, {}, { limit, offset });
      const events = () => listEvents(db, company, {}, { limit, offset });
      expect(await rowsReadBy(db, 'rwas', rwas)).toBeLessThanOrEqual(1_000);
      expect(await rowsReadBy(db, 'events', events)).toBeLessThanOrEqual(1_000);
      expect(await rowsReadBy(db, 'list_counts', events)).toBeLessThan(1_500);
    }
    await expectTrue(db);
    expect(await wrongCounters(db)).toEqual([]);
  });

  test('is read from near its offset where a moment narrows it, and passes over what does not match', async ({
    db,
  }) => {
    const later = { startsFrom: new Date('2026-02-01') };
    const all = await eventsByRows(db, later);
    for (const offset of [1_500, 4_000, 6_000, 9_000]) {
      const page = () => listEvents(db, company, later, { limit, offset, total: Number.MAX_SAFE_INTEGER });
      expect(idsOf(await page())).toEqual(all.slice(offset, offset + limit));
      expect(await rowsReadBy(db, 'events', page)).toBeLessThanOrEqual(1_100);
      expect(await rowsReadBy(db, 'list_counts', page)).toBeLessThan(4_000);
    }
    const last = await db('events').where('company_id', company).orderBy(['created_at', 'id']).first('id');
    await db('events').where('id', last.id).update({ start_date: '2030-01-01' });
    const rare = () =>
      listEvents(
        db,
        company,
        { startsFrom: new Date('2029-01-01') },
        { limit, total: Number.MAX_SAFE_INTEGER },
      );
    await settleCounts(db);
    expect(idsOf(await rare())).toEqual([last.id]);
    expect(await rowsReadBy(db, 'events', rare)).toBeLessThan(200);
  });

  test('has the pages of its rows, however much is folded and parted', async ({ db }) => {
    await expectTrueThroughout(db, { random, changeSome, expectTrue, wrongCounters });
  });

  test('is parted while others write, and misses none of their rows', async ({ db }) => {
    await db.transaction((tx) => recount(tx, 'rwas'));
    await db.transaction((tx) => recount(tx, 'events'));
    await expectTrue(db);
    const isBusy = { now: true };
    const writing = (async () => {
      while (isBusy.now) await changeSome(db);
    })();
    await settleCounts(db);
    isBusy.now = false;
    await writing;
    expect(await wrongCounters(db)).toEqual([]);
    await settleCounts(db);
    expect(await db('list_splits').where({ is_counted: false })).toEqual([]);
    expect(await wrongCounters(db)).toEqual([]);
    await expectTrue(db);
  });

  test('has them though its parts miss a row, until they are counted anew', async ({ db }) => {
    await db('list_counts')
      .where({ company_id: company })
      .whereIn('shift', [-6, -8])
      .update({ count: db.raw('count + 1') });
    await expectTrue(db);
    expect((await wrongCounters(db)).map(({ list }) => list)).toEqual(['rwas', 'events']);
    for (const list of ['rwas', 'events'] as const) await db.transaction((tx) => recount(tx, list));
    await settleCounts(db);
    expect(await wrongCounters(db)).toEqual([]);
  });
});
