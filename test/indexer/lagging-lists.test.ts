import { afterAll, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { createLaggingLists } from '../../src/providers/indexer/lagging-lists.ts';
import { nftChanges } from '../../src/providers/indexer/store/rows/nft-changes.ts';
import { walletMoves } from '../../src/providers/indexer/store/rows/wallet-moves.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { decodeRecorded, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { walk } from '../support/walk.ts';
import { createTestIndex, mostOften } from './index-fixture.ts';

const numbers = [17_686_111, 17_686_112, 17_686_113, 17_686_114, 17_686_115, 17_686_116, 17_686_117];
const names = numbers.map((number) => `ethereum/${number}`);
const recorded = names.map((name) => readFixture<RecordedBlock>(name));
const blocks = names.map((name) => decodeRecorded(name));

const busiest = {
  history: mostOften(
    blocks.flatMap(({ transactions }) => transactions.flatMap((each) => [...walletMoves(each).keys()])),
  ).slice(0, 12),
  nfts: mostOften(blocks.flatMap(nftChanges).map(({ wallet }) => wallet)).slice(0, 12),
};
const behind = 4;
let node: ReplayNode;
const indexes: ReturnType<typeof createTestIndex>[] = [];

// The second database is behind the first one, as a replica of it would be.
test.beforeAll(async ({ database, otherDatabase }) => {
  node = await startReplayNode('1', recorded);
  for (const [each, count] of [
    [database, recorded.length],
    [otherDatabase, behind],
  ] as const) {
    const index = createTestIndex(each, node.url, {
      chainId: '1',
      startBlock: BigInt(numbers[0] ?? 0),
      traceMethod: 'debug',
      maxBatch: 2,
    });
    indexes.push(index);
    node.setHead(recorded[count - 1]?.block.hash ?? '');
    await index.follow();
  }
});

afterAll(async () => {
  for (const index of indexes) index.close();
  await node.close();
});

type Turns = { readonly db: Database; readonly turns: readonly Database[] };

/** Reads a wallet's lists entry by entry, each page from the next of the databases. */
async function entriesOf(what: 'history' | 'nfts', wallet: string, { db, turns }: Turns): Promise<string[]> {
  const [index] = indexes;
  if (index === undefined) throw new Error('No index was made.');
  let asked = 0;
  const lists = createLaggingLists({
    db,
    mayLag: (read) => read(turns[asked++ % turns.length] ?? db),
  });
  const pages = await walk(async (position) => {
    const question = { network: index.network, address: wallet, order: 'DESC', limit: 1, position } as const;
    return what === 'history' ? lists.history(question) : lists.nfts(question);
  });
  return pages.flatMap((page) =>
    'records' in page
      ? page.records.map(({ hash }) => hash)
      : page.entries.map(({ token_address: token, token_id: id }) => `${token}.${id}`),
  );
}

test.for(['history', 'nfts'] as const)(
  'a walk through %s whose pages come from a database and one behind it has each entry of the first moment once',
  async (what, { db, otherDatabase }) => {
    let compared = 0;
    for (const wallet of busiest[what]) {
      const whole = await entriesOf(what, wallet, { db, turns: [db] });
      if (whole.length < 2) continue;
      compared += 1;
      expect(await entriesOf(what, wallet, { db, turns: [db, otherDatabase.db] })).toEqual(whole);
    }
    expect(compared).toBeGreaterThan(3);
  },
);

test('a page is of what the one behind has, and says so', async ({ db, otherDatabase }) => {
  const [wallet = ''] = busiest.history;
  const [now, before] = [
    await entriesOf('history', wallet, { db, turns: [db] }),
    await entriesOf('history', wallet, { db, turns: [otherDatabase.db] }),
  ];
  expect(now.length).toBeGreaterThan(before.length);
  expect(now.slice(-before.length)).toEqual(before);
});
