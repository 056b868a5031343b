import { afterAll, describe, expect } from 'vitest';
import { createIndexerProvider } from '../../src/providers/indexer/indexer-provider.ts';
import { insertSkip } from '../../src/providers/indexer/store/write/skipped-block-store.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { decodeRecorded } from '../support/recorded-chain.ts';
import { withWithdrawals } from '../support/recorded-withdrawals.ts';
import { createTestIndex } from './index-fixture.ts';

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
const question = { address: exchange, order: 'ASC', limit: 100, position: undefined } as const;

describe('what an answer says that it covers', () => {
  test('is from which block on, with all traces, and that withdrawals are in no transaction', async ({
    database,
  }) => {
    const index = createTestIndex(database, node.url, { ...options, traceMethod: 'debug' });
    await index.follow();
    const reader = createIndexerProvider(database);
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
    const { network } = index;
    expect((await reader.history({ ...question, network })).coverage).toEqual(expected);
    const ofNfts = { ...expected, nftAmounts: 'whole' };
    expect((await reader.nfts({ ...question, network })).coverage).toEqual(ofNfts);

    await insertSkip(database.db, '1', 17_686_112n, 'It could not be read.');
    await insertSkip(database.db, '1', 17_686_190n, 'It is not there yet.');
    const skipsOf = async (filter: { fromBlock?: bigint; toBlock?: bigint }) =>
      (await reader.history({ ...question, network, filter })).coverage?.skippedBlocks;
    expect(await skipsOf({})).toEqual([17_686_112n]);
    expect(await skipsOf({ fromBlock: 17_686_112n, toBlock: 17_686_112n })).toEqual([17_686_112n]);
    expect(await skipsOf({ fromBlock: 17_686_113n })).toEqual([]);
    expect(await skipsOf({ toBlock: 17_686_111n })).toEqual([]);
    index.close();
  });

  test('is that no traces were read, or not those of all blocks', async ({ otherDatabase }) => {
    const index = createTestIndex(otherDatabase, node.url, options);
    await index.follow();
    const reader = createIndexerProvider(otherDatabase);
    const traces = async () =>
      (await reader.history({ ...question, network: index.network })).coverage?.traces;
    expect(await traces()).toBe('none');
    await otherDatabase.db('index_state').update({ untraced_blocks: 1 });
    expect(await traces()).toBe('some');
    index.close();
  });
});

describe('a record', () => {
  test('tells the approvals of its wallet and the contract that was created, as the blocks have them', async ({
    database,
  }) => {
    const reader = createIndexerProvider(database);
    const index = createTestIndex(database, node.url, options);
    index.close();
    const { network } = index;
    const transactions = blocks.flatMap((block) => block.transactions);
    let approvals = 0;
    for (const { hash, from, created, approvals: given } of transactions.filter(
      (each) => each.approvals.length > 0 || each.created !== null,
    )) {
      const { records } = await reader.history({ ...question, address: from, network });
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
