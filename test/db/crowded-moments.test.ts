import { describe, expect } from 'vitest';
import { up as countMoments } from '../../migrations/0051_crowded_moments.ts';
import { up as countChangesOfRwas } from '../../migrations/0054_changes_of_rwas.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { findWrongCounters, recount } from '../../src/db/list-recount-store.ts';
import { settleCounts } from '../../src/db/list-splits-store.ts';
import { countEvents } from '../../src/events/event-list-store.ts';
import type { EventFilter } from '../../src/events/event-place.ts';
import type { NftFilter } from '../../src/rwa/assets/nft-counts.ts';
import { countNfts } from '../../src/rwa/assets/nft-store.ts';
import { addNetwork, contractAddress } from '../rwa/samples.ts';
import { expectTrueThroughout, someOf } from '../support/counted-lists.ts';
import { test } from '../support/fixtures.ts';
import { random, seed } from '../support/random.ts';
import { rowsReadBy } from '../support/statements.ts';

const company = 'together';

const evening = Date.UTC(2026, 4, 1, 20);
/** A moment within the seconds around which all happens. */
const someMoment = () => new Date(evening - 1_000 + random(6_000));
const lists = ['nft_changes', 'event_starts'] as const;

/** Half of them at one moment, the others within four seconds. */
const momentSql = `timestamptz '2026-05-01 20:00' + CASE WHEN n % 2 = 0 THEN n * 331 ELSE 0 END * interval '1 microsecond'`;

async function addRows(db: Database, count: number): Promise<void> {
  const names = { company, contractAddress, count };
  await db.raw(
    `INSERT INTO events (company_id, name, created_at, start_date)
     SELECT :company, 'event ' || n, timestamptz '2026-01-01' + n * interval '1 hour', ${momentSql}
     FROM generate_series(1, :count::int) AS n`,
    names,
  );
  await db.raw(
    `WITH rwa AS (
       INSERT INTO rwas (company_id, name, type, chain_id, contract_address) VALUES (:company, 'rwa', 'cask', 31337, :contractAddress)
       RETURNING company_id, id, number)
     INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state, updated_at)
     SELECT company_id, id, number, n, number * 18446744073709551616::numeric + n, '\\x00', 'k',
       CASE WHEN n % 5 = 0 THEN 'failed' ELSE 'unclaimed' END, ${momentSql}
     FROM rwa CROSS JOIN generate_series(1, :count::int) AS n`,
    names,
  );
}

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db('companies').insert({ id: company, name: company });
  await addRows(db, 12_000);
  await settleCounts(db);
  await db.raw('VACUUM ANALYZE nfts, events, list_counts, list_changes, list_splits');
});

async function eventsByRows(db: Database, { startsFrom, startsTo }: EventFilter): Promise<number> {
  const query = db('events').where('company_id', company);
  if (startsFrom) query.where('start_date', '>=', startsFrom.toISOString());
  if (startsTo) query.where('start_date', '<=', startsTo.toISOString());
  return Number((await query.count())[0]?.['count']);
}

async function nftsByRows(db: Database, { updatedSince, claimed, mintState }: NftFilter): Promise<number> {
  const query = db('nfts').where('company_id', company);
  if (updatedSince) query.where('updated_at', '>=', updatedSince.toISOString());
  if (claimed !== undefined) query.whereRaw(`(mint_state = 'minted') = ${claimed}`);
  if (mintState !== undefined) query.where('mint_state', mintState);
  return Number((await query.count())[0]?.['count']);
}

/** Holds totals against the rows. */
async function expectTrue(db: Database): Promise<void> {
  for (const at of [new Date(evening), new Date(evening + 1), someMoment(), someMoment()]) {
    const later = someMoment();
    for (const filter of [{ startsFrom: at }, { startsTo: at }, { startsFrom: at, startsTo: later }])
      expect(await countEvents(db, company, filter)).toBe(await eventsByRows(db, filter));
    for (const filter of [{}, { claimed: false }, { mintState: 'failed' as const }]) {
      const since = { ...filter, updatedSince: at };
      expect(await countNfts(db, company, since)).toBe(await nftsByRows(db, since));
    }
  }
}

const wrongCounters = async (db: Database) =>
  (await Promise.all(lists.map((list) => findWrongCounters(db, list)))).flat();

/** Changes, deletes and adds some rows, each kind in a statement of its own. */
async function changeSome(db: Database): Promise<void> {
  const some = someOf(db, { company, random, among: 9_000, most: 80 });
  await db('events').whereIn('id', some('events')).update({ start_date: someMoment() });
  await db('events').whereIn('id', some('events')).delete();
  await db('nfts').whereIn('id', some('nfts')).update({ updated_at: someMoment() });
  await db('nfts').whereIn('id', some('nfts')).delete();
  await addRows(db, 1 + random(80));
}

describe(`a total from a moment on that many rows share (SEED=${seed})`, () => {
  test('reads few of them', async ({ db }) => {
    const moments = [0, 1, 700, 2_000, 3_971].map((after) => new Date(evening + after));
    for (const at of moments) {
      const events = () => countEvents(db, company, { startsFrom: at });
      const nfts = () => countNfts(db, company, { updatedSince: at });
      expect(await rowsReadBy(db, 'events', events)).toBeLessThanOrEqual(1_000);
      expect(await rowsReadBy(db, 'nfts', nfts)).toBeLessThanOrEqual(1_000);
      expect(await rowsReadBy(db, 'list_counts', nfts)).toBeLessThan(1_000);
    }
    await expectTrue(db);
    expect(await wrongCounters(db)).toEqual([]);
  });

  test('is that of its rows, however much is folded and parted', async ({ db }) => {
    await expectTrueThroughout(db, { random, changeSome, expectTrue, wrongCounters });
  });

  test('is that of its rows though parts miss some, until they are counted anew', async ({ db }) => {
    await db('list_counts')
      .whereIn('list', lists)
      .where('shift', -6)
      .update({ count: db.raw('count + 1') });
    await changeSome(db);
    await expectTrue(db);
    expect((await wrongCounters(db)).map(({ list }) => list)).toEqual(lists);
    for (const list of lists) await db.transaction((tx) => recount(tx, list));
    await settleCounts(db);
    await expectTrue(db);
    expect(await wrongCounters(db)).toEqual([]);
  });

  test('is counted by parts since the migration', async ({ db }) => {
    for (const list of lists) await db.transaction((tx) => recount(tx, list));
    await db('list_splits').whereIn('list', lists).delete();
    await countMoments(db);
    await countChangesOfRwas(db);
    await changeSome(db);
    await settleCounts(db);
    await expectTrue(db);
    expect(await db('list_splits').whereIn('list', lists).where({ is_counted: true }).first()).toBeDefined();
    expect(await wrongCounters(db)).toEqual([]);
  });
});
