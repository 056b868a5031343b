import { describe, expect } from 'vitest';
import { up as countChangesOfRwas } from '../../migrations/0054_changes_of_rwas.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { findWrongCounters, recount } from '../../src/db/list-recount-store.ts';
import { settleCounts } from '../../src/db/list-splits-store.ts';
import { hasOwnList } from '../../src/db/own-lists-store.ts';
import type { NftFilter } from '../../src/rwa/assets/nft-counts.ts';
import { countNfts } from '../../src/rwa/assets/nft-store.ts';
import { addNetwork, contractAddress } from '../rwa/samples.ts';
import { expectTrueThroughout, someOf } from '../support/counted-lists.ts';
import { test } from '../support/fixtures.ts';
import { random, seed } from '../support/random.ts';
import { planOf, rowsReadBy, statementsOf } from '../support/statements.ts';

const company = 'large';

const begin = Date.UTC(2026, 4, 1);
const hour = 60 * 60 * 1_000;
const someMoment = () => new Date(begin + random(60 * hour));
const lists = ['nfts', 'nft_changes'] as const;

// A third at one moment; the others one after the other by serial, a minute each, over and over in two days, so that in every
// stretch of serials some changed since a moment and some did not.
const momentSql = `timestamptz '2026-05-01' + CASE n % 3 WHEN 0 THEN interval '1 day' ELSE n * 17 % 2880 * interval '1 minute' END`;

const insertRwasSql = `
  INSERT INTO rwas (company_id, name, type, chain_id, contract_address)
  SELECT :company, 'rwa', 'cask', 31337, :contractAddress FROM generate_series(1, :rwas::int) RETURNING number`;
const insertNftsSql = `
  INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state, updated_at)
  SELECT company_id, id, number, n, number * 18446744073709551616::numeric + n, '\\x00', 'k',
    CASE WHEN n % 7 = 0 THEN 'failed' ELSE 'unclaimed' END, ${momentSql}
  FROM rwas CROSS JOIN generate_series(:first::int, :first::int + :count::int - 1) AS n
  WHERE company_id = :company AND number BETWEEN :rwa AND :last::bigint`;

async function addRwa(db: Database, count: number): Promise<bigint> {
  const { rows } = await db.raw(insertRwasSql, { company, contractAddress, rwas: 1 });
  const rwa = BigInt(rows[0].number);
  await addNfts(db, rwa, 1, count);
  return rwa;
}

const addNfts = async (
  db: Database,
  rwa: bigint,
  first: number,
  count: number,
  last = rwa,
): Promise<void> => {
  await db.raw(insertNftsSql, { company, rwa: String(rwa), last: String(last), first, count });
};

/** Many RWAs with an NFT each: by such samples, the planner takes any for small. */
async function addCrowd(db: Database): Promise<void> {
  const { rows } = await db.raw(insertRwasSql, { company, contractAddress, rwas: 3_000 });
  await addNfts(db, BigInt(rows[0].number), 1, 1, BigInt(rows.at(-1).number));
}

let rwas: { readonly large: bigint; readonly other: bigint; readonly small: bigint };

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db('companies').insert({ id: company, name: company });
  const [large, other] = [await addRwa(db, 15_000), await addRwa(db, 14_000)];
  rwas = { large, other, small: await addRwa(db, 300) };
  await addCrowd(db);
  await settleCounts(db);
  await db.raw('VACUUM ANALYZE nfts, list_counts, list_changes, list_splits');
});

async function countByRows(db: Database, { updatedSince, mintState, rwaNumber }: NftFilter): Promise<number> {
  const query = db('nfts').where('company_id', company);
  if (updatedSince) query.where('updated_at', '>=', updatedSince.toISOString());
  if (rwaNumber !== undefined) query.where('rwa_number', String(rwaNumber));
  if (mintState !== undefined) query.where('mint_state', mintState);
  return Number((await query.count())[0]?.['count']);
}

const atOnce = new Date(begin + 24 * hour);

/** Holds totals against the rows. */
async function expectTrue(db: Database): Promise<void> {
  for (const updatedSince of [atOnce, new Date(atOnce.getTime() + 1), someMoment(), someMoment()])
    for (const rwaNumber of [...Object.values(rwas), undefined])
      for (const filter of [{}, { mintState: 'failed' as const }, { claimed: true }]) {
        const since = { ...filter, updatedSince, rwaNumber };
        const wanted = 'claimed' in filter ? 0 : await countByRows(db, since);
        expect(await countNfts(db, company, since)).toBe(wanted);
      }
}

const wrongCounters = async (db: Database) =>
  (await Promise.all(lists.map((list) => findWrongCounters(db, list)))).flat();

/** Changes and deletes some rows, of both kinds of RWAs. */
async function changeSome(db: Database): Promise<void> {
  const some = someOf(db, { company, random, among: 28_000, most: 120 });
  await db('nfts').whereIn('id', some('nfts')).update({ updated_at: someMoment() });
  await db('nfts').whereIn('id', some('nfts')).update({ mint_state: 'failed', updated_at: someMoment() });
  await db('nfts').whereIn('id', some('nfts')).delete();
}

/** Totals are true before the own lists are counted, and by them. */
async function expectTrueOnceCounted(db: Database): Promise<void> {
  await expectTrue(db);
  await settleCounts(db);
  expect(await hasOwnList(db, company, rwas.large)).toBe(true);
  await expectTrue(db);
  expect(await wrongCounters(db)).toEqual([]);
}

describe(`the total of what changed of an RWA with many NFTs (SEED=${seed})`, () => {
  test('reads few of them, wherever they are', async ({ db }) => {
    expect(await hasOwnList(db, company, rwas.large)).toBe(true);
    expect(await hasOwnList(db, company, rwas.small)).toBe(false);
    for (const updatedSince of [new Date(begin), atOnce, new Date(begin + 47 * hour), someMoment()]) {
      const count = () => countNfts(db, company, { updatedSince, rwaNumber: rwas.large });
      expect(await rowsReadBy(db, 'nfts', count)).toBeLessThanOrEqual(1_000);
      expect(await rowsReadBy(db, 'list_counts', count)).toBeLessThan(2_000);
      // Along the other indexes, there are as many as the RWA has.
      for (const statement of await statementsOf(db, count))
        expect(await planOf(db, statement)).not.toMatch(/nfts_(?!changed)/);
    }
    await expectTrue(db);
    expect(await wrongCounters(db)).toEqual([]);
  });

  test('is that of its rows, however much is folded and parted', async ({ db }) => {
    await expectTrueThroughout(db, { random, changeSome, expectTrue, wrongCounters });
  });

  test('is counted by an own list once there are many', async ({ db }) => {
    const grown = await addRwa(db, 9_000);
    await settleCounts(db);
    expect(await hasOwnList(db, company, grown)).toBe(false);
    await addNfts(db, grown, 9_001, 4_000);
    await changeSome(db);
    await settleCounts(db);
    expect(await hasOwnList(db, company, grown)).toBe(true);
    await changeSome(db);
    rwas = { ...rwas, other: grown };
    await expectTrue(db);
    expect(await wrongCounters(db)).toEqual([]);
  });

  test('is that of its rows again when wrong counters are counted anew', async ({ db }) => {
    for (const list of lists) {
      await db('list_counts')
        .whereLike('list', 'nft_changes/%')
        .where('shift', 0)
        .update({ count: db.raw('count + 1') });
      await changeSome(db);
      expect((await wrongCounters(db)).map((wrong) => wrong.list)).toEqual(['nft_changes']);
      await db.transaction((tx) => recount(tx, list));
      await changeSome(db);
      await expectTrueOnceCounted(db);
    }
  });

  test('is counted by own lists since the migration, whatever was appended before', async ({ db }) => {
    await db('list_splits').where({ list: 'nfts' }).delete();
    for (const table of ['list_splits', 'list_counts'])
      await db(table).whereLike('list', 'nft_changes/%').delete();
    await changeSome(db);
    await db('list_changes').update({ rwa_number: null });
    await countChangesOfRwas(db);
    await changeSome(db);
    await expectTrueOnceCounted(db);
  });

  test('keeps no counter of what is gone', async ({ db }) => {
    await db('nfts')
      .where({ company_id: company, rwa_number: String(rwas.large) })
      .delete();
    await settleCounts(db);
    const left = await db('list_counts').where({ list: `nft_changes/${rwas.large}` });
    expect(left).toEqual([]);
    await expectTrue(db);
  });
});
