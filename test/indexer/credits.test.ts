import { afterAll, describe, expect } from 'vitest';
import { creditRulesOf } from '../../src/providers/indexer/decode/credit-rules.ts';
import { readBlock, readReceipt } from '../../src/providers/indexer/decode/raw-block.ts';
import { createIndexerProvider } from '../../src/providers/indexer/indexer-provider.ts';
import { rollBackBlocks } from '../../src/providers/indexer/store/rollback/roll-back-store.ts';
import type { HistoryFilter } from '../../src/providers/shared/provider.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { decodeBlock, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { recordedChanges, withWithdrawals } from '../support/recorded-withdrawals.ts';
import { walk } from '../support/walk.ts';
import { createTestIndex, dumpIndex } from './index-fixture.ts';

const names = ['17686111', '17686112', '17686113', '17686114'].map((number) => `ethereum/${number}`);
const recorded = names.map(withWithdrawals);
const options = { chainId: '1', startBlock: 17_686_111n, traceMethod: 'debug' } as const;
/** Its blocks are 17686112 and, as the account of a relay that is paid there, others. */
const builder = '0xdafea492d9c6733ae3d56b7ed1adb60692c98bc5';
/** Of eight of ten withdrawals of these blocks. */
const staker = '0xb9d7934878b5fb9610b3fe8a5e441e8fad7e293f';
let node: ReplayNode;

test.beforeAll(async ({ database }) => {
  node = await startReplayNode('1', recorded);
  node.setHead(recorded.at(-1)?.block.hash ?? '');
  const index = createTestIndex(database, node.url, options);
  await index.follow();
  index.close();
});
afterAll(() => node.close());

describe('what real blocks credit', () => {
  test('makes the sums of all wallets come to what the node saw of their balances', async ({ database }) => {
    const expected = new Map<string, bigint>();
    for (const changes of names.map(recordedChanges)) {
      for (const [account, delta] of changes) expected.set(account, (expected.get(account) ?? 0n) + delta);
    }
    const rows: { wallet: Buffer; total: string }[] = await database
      .db('native_sums')
      .select('wallet', database.db.raw('(moved - fees + withdrawals + rewards)::text AS total'));
    const lines = (entries: Iterable<readonly [string, bigint]>) =>
      [...entries].filter(([, total]) => total !== 0n).map(([wallet, total]) => `${wallet} ${total}`);
    const found = lines(
      rows.map(({ wallet, total }) => [`0x${wallet.toString('hex')}`, BigInt(total)] as const),
    );
    const nobody = `0x${'0'.repeat(40)}`;
    expect(found.length).toBeGreaterThan(700);
    expect(found.sort()).toEqual(
      lines(expected)
        .filter((line) => !line.includes(nobody))
        .sort(),
    );
  });

  const decodeAs = (chainId: string, name: string, uncles?: { number: bigint; beneficiary: string }[]) => {
    const { block, receipts } = readFixture<RecordedBlock>(name);
    const source = { block: readBlock(block), receipts: receipts.map(readReceipt), traces: undefined };
    return decodeBlock({ ...source, uncles }, new Set(), creditRulesOf(chainId));
  };
  const ether = 10n ** 18n;

  test('is the reward of proof of work, by the rules of the time, and for uncles', () => {
    const rewardsOf = (name: string, uncles?: { number: bigint; beneficiary: string }[]) => {
      const { credits, rewardsKnown } = decodeAs('1', name, uncles);
      return {
        rewardsKnown,
        paid: credits.filter(({ kind }) => kind !== 'fees').map(({ kind, amount }) => [kind, amount]),
      };
    };
    expect(rewardsOf('ethereum/4369999')).toEqual({ paid: [['block', 5n * ether]], rewardsKnown: true });
    expect(rewardsOf('ethereum/4404763')).toEqual({ paid: [['block', 3n * ether]], rewardsKnown: true });
    expect(rewardsOf('ethereum/8000000')).toEqual({ paid: [['block', 2n * ether]], rewardsKnown: true });
    expect(rewardsOf('ethereum/17300000').paid.map(([kind]) => kind)).toEqual(Array(16).fill('withdrawal'));
    const withUncle = ['block', 3n * ether + (3n * ether) / 32n];
    expect(rewardsOf('ethereum/4370006')).toEqual({ paid: [withUncle], rewardsKnown: false });
    const uncle = { number: 4_370_005n, beneficiary: builder };
    expect(rewardsOf('ethereum/4370006', [uncle])).toEqual({
      paid: [withUncle, ['uncle', (3n * ether * 7n) / 8n]],
      rewardsKnown: true,
    });
  });

  test('is unknown where the rules of the network are, and no stake of a token', () => {
    expect(decodeAs('137', 'ethereum/17300000')).toMatchObject({ rewardsKnown: false, withdrawals: 16 });
    expect(decodeAs('137', 'ethereum/17300000').credits).toHaveLength(16);
    expect(decodeAs('100', 'ethereum/17300000').credits).toEqual([]);
  });
});

const everything = ['transactions', 'withdrawals', 'rewards'] as const;

describe('a history with its credits', () => {
  test('has all entries once, in the order of the chain, however it is paged', async ({ database }) => {
    const reader = createIndexerProvider(database);
    const { network, close } = createTestIndex(database, node.url, options);
    close();
    for (const order of ['ASC', 'DESC'] as const) {
      const placesOf = async (address: string, limit: number, filter: HistoryFilter) => {
        const question = { network, address, order, limit, filter };
        const pages = await walk((position) => reader.history({ ...question, position }));
        return pages.flatMap(({ records, credits = [] }) => {
          expect(records.length + credits.length).toBeLessThanOrEqual(limit);
          return [
            ...records.map((record) => `${record.block_number} ${record.hash}`),
            ...credits.map((credit) => `${credit.block_number} ${JSON.stringify(credit)}`),
          ];
        });
      };
      for (const address of [builder, staker]) {
        const alone = [
          ...(await placesOf(address, 100, {})),
          ...(await placesOf(address, 100, { entries: ['withdrawals'] })),
          ...(await placesOf(address, 100, { entries: ['rewards'] })),
        ];
        const all = await placesOf(address, 2, { entries: everything });
        expect(all.length).toBeGreaterThan(2);
        expect([...all].sort()).toEqual([...alone].sort());
        const blocks = all.map((place) => Number(place.split(' ')[0]));
        expect(blocks).toEqual([...blocks].sort((a, b) => (order === 'ASC' ? a - b : b - a)));
        const none = { entries: everything, token: [builder] } as const;
        expect(await placesOf(address, 100, none)).toEqual([]);
      }
    }
  });

  test('tells what was credited, within blocks and dates', async ({ database }) => {
    const reader = createIndexerProvider(database);
    const { network, close } = createTestIndex(database, node.url, options);
    close();
    const ask = (address: string, filter: HistoryFilter) =>
      reader.history({ network, address, order: 'ASC', limit: 100, position: undefined, filter });
    const { credits = [], coverage } = await ask(staker, { entries: ['withdrawals'] });
    expect(coverage).toMatchObject({
      outsideTransactions: ['withdrawals', 'rewards'],
      rewards: 'every',
      ledgerFrom: 17_686_111n,
    });
    expect(credits[0]).toMatchObject({ kind: 'withdrawal', token_symbol: network.currency.symbol });
    expect(credits[0]?.summary).toMatch(/^Withdrew 0\.0\d+ \S+ of the stake of validator 10\d\d$/);
    const second = credits.find(({ block_number }) => block_number === '17686112');
    const moment = new Date(second?.block_timestamp ?? 0);
    const within = { entries: ['withdrawals'], fromDate: moment, toDate: moment } as const;
    const ofSecond = credits.filter(({ block_number }) => block_number === '17686112');
    expect((await ask(staker, within)).credits).toEqual(ofSecond);
    const inBlock = { entries: ['withdrawals'], fromBlock: 17_686_112n, toBlock: 17_686_112n } as const;
    expect((await ask(staker, inBlock)).credits).toEqual(ofSecond);
    const fees = (await ask(builder, { entries: ['rewards'], direction: 'receive' })).credits;
    expect(fees).toMatchObject([{ kind: 'priority_fees', block_number: '17686112', validator_index: null }]);
    expect((await ask(builder, { entries: ['rewards'], direction: 'send' })).credits).toEqual([]);
  });
});

test('blocks that are taken back leave the ledger as if they had never been', async ({
  database,
  otherDatabase,
}) => {
  const node = await startReplayNode('1', recorded);
  node.setHead(recorded[1]?.block.hash ?? '');
  const short = createTestIndex(otherDatabase, node.url, options);
  await short.follow();
  await rollBackBlocks(database.db, '1', recorded[3]?.block.hash ?? '', { number: 17_686_112n });
  expect(await dumpIndex(database, '1')).toEqual(await dumpIndex(otherDatabase, '1'));
  // A release that knows no ledger has moved the head since: what is kept begins anew.
  await database.db('index_state').update({ ledger_head: Buffer.alloc(32) });
  node.setHead(recorded[3]?.block.hash ?? '');
  const again = createTestIndex(database, node.url, options);
  await again.follow();
  const [{ ledger_from }] = await database.db('index_state').select('ledger_from');
  expect(ledger_from).toBe('17686113');
  const { block_credits: credits = [] } = await dumpIndex(database, '1');
  expect(credits.length).toBeGreaterThan(30);
  expect(credits.every((row) => /1768611[34]/.test(row))).toBe(true);
  // One that does not know the ledger has deleted the index, and left it where it was.
  for (const table of ['index_state', 'index_blocks', 'wallet_history', 'history_facets', 'nft_changes']) {
    await database.db(table).delete();
  }
  const anew = createTestIndex(database, node.url, options);
  await anew.follow();
  expect((await dumpIndex(database, '1'))['block_credits']?.length).toBe(64 + 4);
  for (const each of [short, again, anew]) each.close();
  await node.close();
});
