import { afterAll, describe, expect } from 'vitest';
import { insertSkip } from '../../src/providers/indexer/store/write/skipped-block-store.ts';
import { closing } from '../support/closing.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { decodeRecorded } from '../support/recorded-chain.ts';
import { withWithdrawals } from '../support/recorded-withdrawals.ts';
import { createTestIndex } from './index-fixture.ts';
import { readerOf } from './reader.ts';

const names = ['ethereum/17686111', 'ethereum/17686112', 'ethereum/17686113'];
const blocks = names.map((name) => decodeRecorded(name));
const exchange = '0x28c6c06298d514db089934071355e5743bf21d60';
let node: ReplayNode;

test.beforeAll(async () => {
  const recorded = names.map(withWithdrawals);
  node = await startReplayNode('1', recorded);
  node.setHead(recorded.at(-1)?.block.hash ?? '');
});
afterAll(() => node.close());

const options = { chainId: '1', startBlock: 17_686_111n } as const;

describe('what an answer says that it covers', () => {
  test('is from which block on, with all traces, and that withdrawals are in no transaction', async ({
    database,
  }) => {
    const index = closing(createTestIndex(database, node.url, { ...options, traceMethod: 'debug' }));
    await index.follow();
    const reader = readerOf(database, index.network);
    const expected = {
      fromBlock: 17_686_111n,
      traces: 'all',
      skippedBlocks: [],
      outsideTransactions: ['withdrawals', 'rewards'],
      rewards: 'every',
      ledgerFrom: 17_686_111n,
    };
    const [{ withdrawals }] = await database.db('index_state').select('withdrawals');
    expect(withdrawals).toBe('48');
    expect((await reader.history(exchange)).coverage).toEqual(expected);
    const ofNfts = { ...expected, nftAmounts: 'whole' };
    expect((await reader.nfts(exchange)).coverage).toEqual(ofNfts);

    await insertSkip(database.db, '1', 17_686_112n, 'It could not be read.');
    await insertSkip(database.db, '1', 17_686_190n, 'It is not there yet.');
    const skipsOf = async (filter: { fromBlock?: bigint; toBlock?: bigint }) =>
      (await reader.history(exchange, filter)).coverage?.skippedBlocks;
    expect(await skipsOf({})).toEqual([17_686_112n]);
    expect(await skipsOf({ fromBlock: 17_686_112n, toBlock: 17_686_112n })).toEqual([17_686_112n]);
    expect(await skipsOf({ fromBlock: 17_686_113n })).toEqual([]);
    expect(await skipsOf({ toBlock: 17_686_111n })).toEqual([]);
  });
});

describe('a record', () => {
  test('tells the approvals of its wallet and the contract that was created, as the blocks have them', async ({
    database,
  }) => {
    const index = closing(createTestIndex(database, node.url, options));
    const reader = readerOf(database, index.network);
    const transactions = blocks.flatMap((block) => block.transactions);
    let approvals = 0;
    for (const { hash, from, created, approvals: given } of transactions.filter(
      (each) => each.approvals.length > 0 || each.created !== null,
    )) {
      const { records } = await reader.history(from);
      const record = records.find((each) => each.hash === hash);
      const own = given.filter(({ owner }) => owner === from);
      expect(record?.created_contract).toBe(created ?? undefined);
      expect(
        record?.approvals?.map((each) => [
          ...[each.token_address, each.spender, each.kind, each.granted, each.log_index],
          each.amount ?? each.token_id ?? '0',
        ]),
      ).toEqual(
        own.map((each) => [
          ...[each.token, each.spender, each.kind, each.granted, each.logIndex],
          each.value.toString(),
        ]),
      );
      approvals += own.length;
    }
    expect(approvals).toBeGreaterThan(20);
  });
});
