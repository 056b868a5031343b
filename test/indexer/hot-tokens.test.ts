import { describe, expect } from 'vitest';
import { listHoldings } from '../../src/providers/indexer/read/holding-store.ts';
import { findWalletSums } from '../../src/providers/indexer/read/reconciliation-store.ts';
import { listSeenTokens, tokenQuery } from '../../src/providers/indexer/read/token-page-store.ts';
import { rollBackBlocks } from '../../src/providers/indexer/store/rollback/roll-back-store.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { insertIndexHead } from '../support/index-head.ts';
import { rowsReadBy } from '../support/statements.ts';

const wallet = `0x${'ab'.repeat(20)}`;
const contract = `0x${'cd'.repeat(20)}`;
const sender = `0x${'ef'.repeat(20)}`;
const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex');
const hashOf = (block: number) => Buffer.alloc(32, block % 256);
const changes = 200_000;
const head = changes + 1;
const state = { chain_id: '1', head_hash: hashOf(2), ledger_from: 0, ledger_head: hashOf(2) };

/** A wallet that has had one token of ERC-1155 come and go in each block, and has some left of before the last one. */
const test = base.extend('hot', perFile, async ({ db }) => {
  await insertIndexHead(db, { ...state, head_number: head });
  await db('index_blocks').insert(
    [head - 1, head].map((number, index) => ({
      chain_id: '1',
      number,
      hash: hashOf(index + 1),
      parent_hash: hashOf(index),
      block_time: new Date(),
      wallets: [bytesOf(wallet)],
    })),
  );
  await db.raw(
    `INSERT INTO nft_changes SELECT 1, ?::bytea, ?::bytea, 7, n, 0, 0, 1155, CASE WHEN n % 2 = 0 THEN 3 ELSE -2 END, n % 2 = 0
     FROM generate_series(1, ?::int) n`,
    [bytesOf(wallet), bytesOf(contract), head],
  );
  const amount = (head - 1) / 2 - 2;
  await db('nft_holdings').insert({
    chain_id: '1',
    wallet: bytesOf(wallet),
    contract: bytesOf(contract),
    token_id: 7,
    standard: 1155,
    amount,
    acquired_block: head - 1,
    acquired_log: 0,
    changed_block: head,
  });
  await db.raw('ANALYZE nft_changes');
  return { amount };
});

const page = { chainId: '1', wallet, order: 'DESC', limit: 100, after: undefined } as const;

describe('a token that was moved very often', () => {
  test('is listed as of a block ago without a look at all that was before', async ({ db, hot }) => {
    const asOf = BigInt(head - 1);
    const found = await listHoldings(db, { ...page, asOf });
    expect(found?.rows).toMatchObject([
      { amount: BigInt(hot.amount + 2), acquired: { blockNumber: asOf, logIndex: 0 }, changedBlock: asOf },
    ]);
    expect(await rowsReadBy(db, 'nft_changes', () => listHoldings(db, { ...page, asOf }))).toBeLessThan(100);
  });

  test('is listed as of its first blocks without a look at all that came later', async ({ db }) => {
    const ask = () => listHoldings(db, { ...page, asOf: 4n });
    expect((await ask())?.rows).toMatchObject([{ amount: 2n, changedBlock: 4n }]);
    // How many came later is counted, up to some.
    expect(await rowsReadBy(db, 'nft_changes', ask)).toBeLessThan(5_000);
  });

  test('is taken back by a block without a look at all that was before', async ({ db, hot }) => {
    const back = (to: bigint) => rollBackBlocks(db, '1', `0x${hashOf(2).toString('hex')}`, { number: to });
    // Explained, statements are run twice: what the first time leaves has nothing more to take back.
    const read = await rowsReadBy(db, 'nft_changes', () => back(BigInt(head - 1)));
    expect(read).toBeLessThan(100);
    const [holding] = await db('nft_holdings');
    expect(holding).toMatchObject({
      amount: String(hot.amount + 2),
      acquired_block: String(head - 1),
      changed_block: String(head - 1),
    });
  });
});

/** One record in which a hundred contracts sent many tokens each, as some megabytes of JSON. */
const largeRecord = base.extend('record', perFile, async ({ db }) => {
  await insertIndexHead(db, state);
  const tokens = Array.from({ length: 100 }, (_, index) => `0x${String(index).padStart(4, '0').repeat(10)}`);
  const [key, row] = [
    { chain_id: '1', wallet: bytesOf(wallet) },
    { block_hash: hashOf(1), block_time: new Date(), kind: 0 },
  ];
  await db('wallet_history').insert({
    ...key,
    ...row,
    block_number: 5,
    tx_index: 0,
    tx_hash: hashOf(7),
    tx: JSON.stringify(['0', sender, contract, null, '0', '1', '1', '1', '1', 1, null]),
    moves: JSON.stringify({
      t: Array.from({ length: 12_000 }, (_, part) => [
        ...[tokens[part % 100], String(part), '1', sender, wallet, 1155, sender, 1, 0, part],
      ]),
    }),
  });
  await db('token_contracts').insert(
    tokens.map((token) => ({ chain_id: '1', contract: bytesOf(token), standard: 1155 })),
  );
  await db('history_facets').insert(
    tokens.map((token) => ({
      ...key,
      facet: Buffer.concat([Buffer.of(2), bytesOf(token).subarray(0, 10)]),
      kind: 0,
      block_number: 5,
      tx_index: 0,
    })),
  );
  return { tokens, key, row };
});

describe('a record of megabytes', () => {
  largeRecord('names a hundred tokens of its wallet without being read', async ({ db, record }) => {
    const request = { chainId: '1', wallet, limit: 101, after: undefined };
    const found = await listSeenTokens(db, request);
    expect(found?.tokens.map(({ contracts }) => contracts)).toEqual(record.tokens.map((token) => [token]));
    const { sql, bindings } = tokenQuery(request);
    const { rows } = await db.raw(sql, bindings);
    expect(JSON.stringify(rows).length).toBeLessThan(100_000);
    expect(await rowsReadBy(db, 'wallet_history', () => listSeenTokens(db, request))).toBeLessThan(2);
  });

  largeRecord('adds up what it paid to many in the database', async ({ db, record }) => {
    const payments = Array.from({ length: 1_000 }, (_, index) => [wallet, sender, String(index), 1]);
    const gains = [
      [sender, wallet, '500', 0],
      [wallet, wallet, '77', 0],
    ];
    await db('wallet_history').insert({
      ...record.key,
      ...record.row,
      block_number: 6,
      tx_index: 0,
      tx_hash: hashOf(8),
      tx: JSON.stringify(['0', wallet, contract, null, '0', '1', '1', '1', '42', 1, null]),
      moves: JSON.stringify({ n: [...payments, ...gains] }),
    });
    await db('native_sums').insert({
      ...record.key,
      moved: 0,
      fees: 42,
      unknown_fees: 0,
      withdrawals: 0,
      rewards: 0,
    });
    const found = await findWalletSums(db, { chainId: '1', wallet }, 5n);
    expect(found?.sums).toEqual({ moved: 499_000n, fees: 0n, unknownFees: 0n, withdrawals: 0n, rewards: 0n });
  });

  largeRecord('and many of them are too much on both sides of a block', async ({ db, record: { key } }) => {
    // The rows have 90 MB together, which no caller ever writes at once.
    await db.transaction(async (tx) => {
      await tx.raw('SET LOCAL statement_timeout = 0');
      await tx.raw(
        `INSERT INTO wallet_history (chain_id, wallet, block_number, tx_index, tx_hash, block_hash, block_time, tx, moves, kind)
       SELECT chain_id, wallet, b.block, n, tx_hash, block_hash, block_time, tx,
         (SELECT json_build_object('x', string_agg(md5(n::text || b.block || i), '')) FROM generate_series(1, 70000) i), kind
       FROM wallet_history, generate_series(1, 20) n, (VALUES (1), (8)) b (block)
       WHERE wallet = ? AND block_number = 5 AND tx_index = 0`,
        [key.wallet],
      );
    });
    const found = await findWalletSums(db, { chainId: '1', wallet }, 5n);
    expect(found?.sums).toBeUndefined();
    const newest = await findWalletSums(db, { chainId: '1', wallet }, 8n);
    expect(newest?.sums).toBeDefined();
  });
});
