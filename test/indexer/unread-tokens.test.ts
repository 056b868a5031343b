import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { listUnreadTokens } from '../../src/providers/indexer/store/tokens/token-store.ts';
import type { ContractCalls } from '../../src/providers/indexer/tokens/contract-calls.ts';
import { createTokenFiller } from '../../src/providers/indexer/tokens/token-filler.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';

const chainId = '78';

test.beforeEach(async ({ db }) => {
  await db('nft_tokens').delete();
});

/** Tokens of a contract whose URI nobody has read. @param of the last byte of its address */
const mint = (db: Database, of: number, count: number) =>
  db.raw(
    `INSERT INTO nft_tokens (chain_id, contract, token_id, standard, uri_stale)
     SELECT ?, ?::bytea, n, 721, true FROM generate_series(1, ?::int) AS n`,
    [chainId, contractOf(of), String(count)],
  );
const contractOf = (of: number) => `\\x${of.toString(16).padStart(40, '0')}`;

/** How many tokens were asked of each contract, by the last byte of its address, batch by batch. */
function createFiller(db: Database) {
  const batches: Record<string, number>[] = [];
  const calls: ContractCalls = {
    async readMany(asked, read) {
      const counts: Record<string, number> = {};
      for (const { to } of asked) {
        const name = Number(BigInt(to));
        counts[name] = (counts[name] ?? 0) + 1;
      }
      if (asked.length > 0) batches.push(counts);
      return asked.map(() => read(undefined));
    },
  };
  return { batches, ...createTokenFiller({ chainId, calls, db }) };
}

describe('tokens whose URI is to be read', () => {
  test('of one contract do not keep those of others waiting, however many they are', async ({ db }) => {
    await mint(db, 1, 5_000);
    for (const of of [2, 3]) await mint(db, of, 3);
    const { batches, fill } = createFiller(db);
    expect(await fill()).toBe(true);
    expect(batches).toEqual([{ 1: 94, 2: 3, 3: 3 }]);
    expect(await fill()).toBe(true);
    expect(batches.at(-1)).toEqual({ 1: 100 });
  });

  test('of many such contracts have their turns, and all come', async ({ db }) => {
    for (let of = 1; of <= 9; of += 1) await mint(db, of, 100);
    await mint(db, 10, 1);
    const { batches, fill } = createFiller(db);
    await fill();
    expect(batches).toEqual([{ 1: 20, 2: 20, 3: 20, 4: 20, 5: 20 }]);
    await fill();
    expect(batches.at(-1)).toEqual({ 6: 20, 7: 20, 8: 20, 9: 20, 10: 1 });
    while (await fill());
    expect(await db('nft_tokens').where('uri_stale', true)).toEqual([]);
  });

  test('are found without a look at all that wait', async ({ db }) => {
    await mint(db, 1, 20_000);
    await mint(db, 2, 3);
    await db('nft_tokens').where('token_id', '>', 10_000).update({ uri_stale: false });
    await db.raw('VACUUM ANALYZE nft_tokens');
    const query = { limit: 100, ofOne: 20, after: '0x' };
    const list = () => listUnreadTokens(db, chainId, query);
    expect(await list()).toHaveLength(23);
    expect(await rowsReadBy(db, 'nft_tokens', list)).toBeLessThan(200);
  });
});
