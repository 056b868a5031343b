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

/** Tokens of a contract whose URI nobody has read. @param of each byte of its address */
const mint = (db: Database, of: string, count: number) =>
  db.raw(
    `INSERT INTO nft_tokens (chain_id, contract, token_id, standard, uri_stale)
     SELECT ?, ?::bytea, n, 721, true FROM generate_series(1, ?::int) AS n`,
    [chainId, contractOf(of), String(count)],
  );
const contractOf = (of: string) => `\\x${of.repeat(20)}`;

/** A filler, and how many tokens were asked for in each batch. */
function createFiller(db: Database) {
  const batches: number[] = [];
  const calls: ContractCalls = {
    async readMany(asked, read) {
      if (asked.length > 0) batches.push(asked.length);
      return asked.map(() => read(undefined));
    },
  };
  return { batches, ...createTokenFiller({ chainId, calls, db }) };
}

describe('tokens whose URI is to be read', () => {
  test('of one contract do not keep those of others waiting, however many they are', async ({ db }) => {
    for (const of of ['11', '99']) await mint(db, of, 5_000);
    for (const of of ['55', 'dd']) await mint(db, of, 3);
    const { batches, fill } = createFiller(db);
    const isDone = async () =>
      (await db('nft_tokens').where({ contract: contractOf('55'), uri_stale: true })).length;
    // A batch begins at the first or the third contract with one in four chances each.
    while ((await isDone()) > 0) expect(await fill()).toBe(true);
    expect(batches.length).toBeLessThan(100);
    while (await fill());
    expect(await db('nft_tokens').where('uri_stale', true)).toEqual([]);
  });

  test('are found without a look at all that wait', async ({ db }) => {
    await mint(db, '11', 20_000);
    await mint(db, '22', 3);
    await db('nft_tokens').where('token_id', '>', 10_000).update({ uri_stale: false });
    await db.raw('VACUUM ANALYZE nft_tokens');
    const list = () => listUnreadTokens(db, chainId, { limit: 100, from: `0x${'20'.repeat(20)}` });
    expect((await list()).map(({ contract }) => contract.slice(0, 4)).slice(2, 4)).toEqual(['0x22', '0x11']);
    expect(await rowsReadBy(db, 'nft_tokens', list)).toBeLessThan(250);
  });
});
