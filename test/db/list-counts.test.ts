import { describe, expect } from 'vitest';
import { up } from '../../migrations/0039_list_counts.ts';
import { up as countApart } from '../../migrations/0041_archived_rwas.ts';
import { up as countWider } from '../../migrations/0043_rwa_counters.ts';
import { up as markCounters } from '../../migrations/0045_list_marks.ts';
import { up as markWhole } from '../../migrations/0047_whole_stretches.ts';
import { up as countParts } from '../../migrations/0050_crowded_stretches.ts';
import { up as countMoments } from '../../migrations/0051_crowded_moments.ts';
import { up as countChangesOfRwas } from '../../migrations/0054_changes_of_rwas.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { foldCounts } from '../../src/db/list-folds-store.ts';
import { listNames } from '../../src/db/list-levels.ts';
import { findWrongCounters } from '../../src/db/list-recount-store.ts';
import { countEvents } from '../../src/events/event-list-store.ts';
import type { EventFilter } from '../../src/events/event-place.ts';
import type { NftFilter } from '../../src/rwa/assets/nft-counts.ts';
import { countNfts, listNfts } from '../../src/rwa/assets/nft-store.ts';
import { countRwas, listRwas } from '../../src/rwa/assets/rwa-store.ts';
import { addNetwork, contractAddress } from '../rwa/samples.ts';
import { listEventsBothWays } from '../support/events.ts';
import { test } from '../support/fixtures.ts';

const company = 'counted';
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));

/** Random numbers that the seed decides. */
function createRandom(): (below: number) => number {
  let state = seed % 2_147_483_647 || 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
const random = createRandom();

const types = ['cask', 'plot', 'painting'] as const;
const states = ['unclaimed', 'queued', 'submitted', 'minted', 'failed'] as const;
const day = 24 * 60 * 60 * 1_000;
const start = Date.UTC(2026, 0, 1);
const someMoment = () => new Date(start + random(30 * day));

// Serials leave gaps, as after a recovery. So few changes are folded by no reader.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db('companies').insert([company, 'other'].map((id) => ({ id, name: id })));
  await Promise.all([company, 'other'].map((id) => addRows(db, id)));
});

const insertRwasSql = `
  INSERT INTO rwas (company_id, name, type, chain_id, contract_address, is_buyable, is_claimable, created_at)
  SELECT :id, 'rwa ' || n, :type, 31337, :contractAddress, n % 2 = 0, n % 3 = 0,
    timestamptz '2026-01-01' + (n % 7) * :step::int * interval '1 microsecond'
  FROM generate_series(1, :count::int) AS n`;
const insertNftsSql = `
  INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, updated_at)
  SELECT r.company_id, r.id, r.number, n * :gap::int, r.number * 18446744073709551616::numeric + n * :gap::int, '\\x00',
    'k', timestamptz '2026-01-01' + n % 97 * interval '7 hours'
  FROM rwas r CROSS JOIN generate_series(1, CASE WHEN r.number % 10 = 0 THEN :many::int ELSE 3 END) AS n
  WHERE r.company_id = :id AND r.name = :name`;
const insertEventsSql = `
  INSERT INTO events (company_id, name, created_at, start_date)
  SELECT :id, 'event ' || n, timestamptz '2026-01-01' + n % 50 * :step::int * interval '1 second',
    CASE WHEN n % 4 > 0 THEN timestamptz '2026-01-01' + n % 60 * :step::int * interval '1 hour' END
  FROM generate_series(1, :count::int) AS n`;

async function addRows(db: Database, id: string): Promise<void> {
  for (const type of types) {
    await db.raw(insertRwasSql, { id, type, contractAddress, step: 1 + random(100_000_000), count: 12 });
  }
  for (const name of ['rwa 3', 'rwa 7', 'rwa 10']) {
    await db.raw(insertNftsSql, { id, name, gap: 1 + random(400), many: 120 });
  }
  await db.raw(insertEventsSql, { id, step: 1 + random(3_000), count: 200 });
}

// Before they are counted anew, nothing is archived.
let mayArchive = true;
const archived = (at: Date) => (mayArchive ? { archived_at: random(3) > 0 ? null : at } : {});

/** Changes some rows in a transaction of its own; now and then it is taken back. */
function changeSome(db: Database, id: string): Promise<void> {
  const [state, count, skipped] = [states[random(5)], 1 + random(60), random(400)];
  const at = someMoment();
  const isKept = random(5) > 0;
  const fields = {
    mint_state: state,
    minted_at: state === 'minted' ? at : null,
    minted_tx: state === 'minted' ? '0x' : null,
    minted_block: state === 'minted' ? '1' : null,
  };
  const some = (table: string) =>
    db(table)
      .select('id')
      .where('company_id', id)
      .orderBy('id')
      .offset(skipped % 30)
      .limit(count);
  const work = [
    () => db('nfts').whereIn('id', some('nfts').offset(skipped)).update(fields),
    () => db('nfts').whereIn('id', some('nfts')).delete(),
    () =>
      db('rwas')
        .whereIn('id', some('rwas').limit(3))
        .update({ type: types[random(3)], is_buyable: random(2) > 0, ...archived(at) }),
    () =>
      db('events')
        .whereIn('id', some('events'))
        .update({ start_date: random(4) > 0 ? at : null }),
    () => db('events').whereIn('id', some('events').limit(5)).delete(),
    () => db('events').insert({ company_id: id, name: 'late', created_at: at, start_date: at }),
  ][random(6)];
  return db
    .transaction(async (tx) => {
      await work?.().transacting(tx);
      if (!isKept) throw new Error('taken back');
    })
    .catch((error: unknown) => {
      // Writers may lock rows in either order, of which the server ends one, and on a busy machine one waits for too long.
      if (!(error instanceof Error && /taken back|deadlock|lock timeout/.test(error.message))) throw error;
    });
}

const nftFilters = async (db: Database): Promise<NftFilter[]> => {
  const numbers: string[] = await db('rwas').where('company_id', company).pluck('number');
  const rwaNumber = BigInt(numbers[random(numbers.length)] ?? 0);
  const updatedSince = someMoment();
  const plain: NftFilter[] = [
    {},
    { claimed: true },
    { claimed: false },
    ...states.map((mintState) => ({ mintState })),
  ];
  const ofRwa = plain.map((filter) => ({ ...filter, rwaNumber }));
  return [
    ...plain,
    ...ofRwa,
    { claimed: true, mintState: 'queued' },
    { updatedSince },
    { updatedSince, claimed: false },
  ];
};
const rwaFilters = [undefined, ...types].flatMap((type) =>
  [undefined, true].flatMap((isBuyable) =>
    [undefined, false].flatMap((isClaimable) =>
      [undefined, true].map((includeArchived) => ({ type, isBuyable, isClaimable, includeArchived })),
    ),
  ),
);
const eventFilters = (): EventFilter[] => {
  const [one, other] = [someMoment(), someMoment()];
  return [
    {},
    { startsFrom: one },
    { startsTo: one },
    { startsFrom: one, startsTo: other },
    { startsFrom: one, startsTo: one },
  ];
};

/** Holds total and pages against the whole list, which no counter has a part in. */
async function expectPages<Row extends { readonly id: string }>(
  whole: readonly string[],
  count: () => Promise<number>,
  page: (page: { limit: number; offset: number }) => Promise<readonly Row[]>,
): Promise<void> {
  expect(await count()).toBe(whole.length);
  for (const offset of [0, 1, random(whole.length + 1), random(whole.length + 1), whole.length]) {
    const found = await page({ limit: 7, offset });
    expect(found.map(({ id }) => id)).toEqual(whole.slice(offset, offset + 7));
  }
}

async function expectTrue(db: Database): Promise<void> {
  for (const filter of await nftFilters(db)) {
    const rows = await listNfts(db, company, filter, { limit: 100_000, offset: 0 });
    await expectPages(
      rows.map(({ id }) => id),
      () => countNfts(db, company, filter),
      (page) => listNfts(db, company, filter, page),
    );
  }
  for (const filter of rwaFilters) {
    const rows = await listRwas(db, company, filter, { limit: 100_000, offset: 0 });
    await expectPages(
      rows.map(({ id }) => id),
      () => countRwas(db, company, filter),
      (page) => listRwas(db, company, filter, page),
    );
  }
  for (const filter of eventFilters()) {
    const rows = await listEventsBothWays(db, company, filter, { limit: 100_000 });
    await expectPages(
      rows.map(({ id }) => id),
      () => countEvents(db, company, filter),
      (page) => listEventsBothWays(db, company, filter, page),
    );
  }
}

describe(`lists with counters (SEED=${seed})`, () => {
  test('have the totals and pages of their rows, before and after their changes are folded', async ({
    db,
  }) => {
    await expectTrue(db);
    expect(await foldCounts(db, 100)).toBe(100);
    await expectTrue(db);
    while ((await foldCounts(db)) > 0);
    await expectTrue(db);
    expect(await db('list_changes').first()).toBeUndefined();
  });

  test('stay true while several write and fold at once, and some take back what they did', async ({ db }) => {
    const isBusy = { now: true };
    const folding = (async () => {
      while (isBusy.now) await foldCounts(db, 1 + random(40));
    })();
    for (let round = 0; round < 3; round += 1) {
      const writers = Array.from({ length: 24 }, (_, index) =>
        changeSome(db, index % 4 > 0 ? company : 'other'),
      );
      await Promise.all(writers);
      await expectTrue(db);
    }
    isBusy.now = false;
    await folding;
    while ((await foldCounts(db)) > 0);
    await expectTrue(db);
  });

  test('are counted by the migration while writers go on', async ({ db }) => {
    for (const table of ['nfts', 'rwas', 'events']) {
      for (const name of ['new', 'gone', 'changed']) {
        await db.raw(`DROP FUNCTION ${table}_count_${name} CASCADE`);
      }
    }
    await db.raw('DROP VIEW list_count_changes');
    await db.raw('DROP TABLE list_counts, list_changes, list_splits');
    mayArchive = false;
    await db.raw('ALTER TABLE rwas DROP COLUMN archived_at CASCADE');
    await changeSome(db, company);
    const isBusy = { now: true };
    const writing = (async () => {
      while (isBusy.now) await changeSome(db, company);
    })();
    await up(db);
    await countApart(db);
    await db.transaction(countWider);
    await markCounters(db);
    await markWhole(db);
    await countParts(db);
    await countMoments(db);
    await countChangesOfRwas(db);
    mayArchive = true;
    isBusy.now = false;
    await writing;
    await expectTrue(db);
    for (const list of listNames) expect(await findWrongCounters(db, list)).toEqual([]);
  });

  test('keep no counter of what is gone', async ({ db }) => {
    await db('events').where('company_id', company).delete();
    while ((await foldCounts(db)) > 0);
    const left = await db('list_counts')
      .where('company_id', company)
      .whereIn('list', ['events', 'event_starts']);
    expect(left).toEqual([]);
    expect(await db('list_counts').where('count', '<=', 0)).toEqual([]);
  });
});
