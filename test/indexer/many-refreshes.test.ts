import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { applyRefreshes } from '../../src/providers/indexer/store/tokens/metadata-store.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';

const chainId = '77';
const contracts = { large: '\\x01', invented: '\\x02', small: '\\x03' };
const tokens = 12_000;

test.beforeAll(async ({ db }) => {
  await db.raw(
    `INSERT INTO nft_tokens (chain_id, contract, token_id, standard, uri_stale, uri_read_at)
     SELECT :chainId, c::bytea, n, 721, false, now() - interval '1 day'
     FROM (VALUES (:large, :tokens), (:small, 3)) AS of (c, count), generate_series(1, count::int) AS n`,
    { chainId, ...contracts, tokens },
  );
});
test.beforeEach(async ({ db }) => {
  await db('nft_refreshes').delete();
  await db('nft_tokens').update({ uri_stale: false });
  await db.raw('VACUUM ANALYZE nft_tokens');
});

/** As contracts announce it: all tokens for -1. */
const announce = (db: Database, name: keyof typeof contracts, from: number, to: number) =>
  db.raw(
    `INSERT INTO nft_refreshes (chain_id, contract, token_id, due)
     SELECT ?, ?::bytea, n, now() - interval '1 second' FROM generate_series(?::int, ?::int) AS n`,
    [chainId, contracts[name], from, to].map(String),
  );
const stale = async (db: Database, name: keyof typeof contracts) =>
  Number(
    (await db('nft_tokens').where({ contract: contracts[name], uri_stale: true }).count())[0]?.['count'],
  );
const due = async (db: Database) =>
  Number((await db('nft_refreshes').whereNotNull('due').count())[0]?.['count']);

describe('changes that contracts announce', () => {
  test('of all tokens go on from where they were, and read no token twice', async ({ db }) => {
    await announce(db, 'large', -1, -1);
    for (let step = 1; step <= tokens / 1_000; step += 1) {
      expect(await applyRefreshes(db, chainId)).toBe(true);
      expect(await stale(db, 'large')).toBe(step * 1_000);
      // Read at last, they are no longer stale, and not marked again.
      if (step === 10)
        await db('nft_tokens').where({ contract: contracts.large }).update({ uri_stale: false });
      if (step === 10) break;
    }
    await db.raw('VACUUM ANALYZE nft_tokens');
    expect(await rowsReadBy(db, 'nft_tokens', () => applyRefreshes(db, chainId))).toBeLessThan(5_000);
    while (await applyRefreshes(db, chainId));
    expect([await due(db), await stale(db, 'large')]).toEqual([0, 2_000]);
    await db('nft_refreshes').update({ due: db.raw("now() - interval '1 second'") });
    await applyRefreshes(db, chainId);
    expect(await db('nft_refreshes').pluck('done_to')).toEqual(['1000']);
  });

  test('of tens of thousands of tokens that are not there keep no others waiting for long', async ({
    db,
  }) => {
    await announce(db, 'invented', 1, 10_000);
    await announce(db, 'small', 2, 3);
    let steps = 0;
    while (await applyRefreshes(db, chainId)) steps += 1;
    expect(steps).toBeLessThanOrEqual(11);
    expect([await due(db), await stale(db, 'small')]).toEqual([0, 2]);
  });

  test('are forgotten a day after their rest, some at a time', async ({ db }) => {
    await announce(db, 'invented', 1, 1_500);
    await db('nft_refreshes').update({ due: null, rests_until: db.raw("now() - interval '2 days'") });
    await announce(db, 'small', 1, 1);
    await applyRefreshes(db, chainId);
    expect(await db('nft_refreshes')).toHaveLength(501);
  });
});
