import { afterAll, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { createLaggingLists } from '../../src/providers/indexer/lagging-lists.ts';
import { nftChanges } from '../../src/providers/indexer/store/rows/nft-changes.ts';
import { walletMoves } from '../../src/providers/indexer/store/rows/wallet-moves.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { decodeRecorded, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { createTestIndex } from './index-fixture.ts';

const numbers = [17_686_111, 17_686_112, 17_686_113, 17_686_114, 17_686_115, 17_686_116, 17_686_117];
const names = numbers.map((number) => `ethereum/${number}`);
const recorded = names.map((name) => readFixture<RecordedBlock>(name));
const blocks = names.map((name) => decodeRecorded(name));

/** The wallets that come up most often. */
function mostOften(wallets: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const wallet of wallets) counts.set(wallet, (counts.get(wallet) ?? 0) + 1);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([wallet]) => wallet)
    .slice(0, 12);
}

const busiest = {
  history: mostOften(
    blocks.flatMap(({ transactions }) => transactions.flatMap((each) => [...walletMoves(each).keys()])),
  ),
  nfts: mostOften(blocks.flatMap(nftChanges).map(({ wallet }) => wallet)),
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

type Walk = { readonly db: Database; readonly turns: readonly Database[] };

/** Reads a wallet's lists entry by entry, each page from the next of the databases. */
async function walk(what: 'history' | 'nfts', wallet: string, { db, turns }: Walk): Promise<string[]> {
  const [index] = indexes;
  if (index === undefined) throw new Error('No index was made.');
  let asked = 0;
  const lists = createLaggingLists({
    db,
    mayLag: (read) => read(turns[asked++ % turns.length] ?? db),
  });
  const found: string[] = [];
  let position: string | undefined;
  do {
    const order = 'DESC' as const;
    const question = { network: index.network, address: wallet, order, limit: 1, position };
    const page = what === 'history' ? await lists.history(question) : await lists.nfts(question);
    const entries = 'records' in page ? page.records : page.entries;
    found.push(
      ...entries.map((entry) => ('hash' in entry ? entry.hash : `${entry.token_address}.${entry.token_id}`)),
    );
    position = page.next;
  } while (position !== undefined);
  return found;
}

test.for(['history', 'nfts'] as const)(
  'a walk through %s whose pages come from a database and one behind it has each entry of the first moment once',
  async (what, { db, otherDatabase }) => {
    let compared = 0;
    for (const wallet of busiest[what]) {
      const whole = await walk(what, wallet, { db, turns: [db] });
      if (whole.length < 2) continue;
      compared += 1;
      expect(await walk(what, wallet, { db, turns: [db, otherDatabase.db] })).toEqual(whole);
    }
    expect(compared).toBeGreaterThan(3);
  },
);

test('a page is of what the one behind has, and says so', async ({ db, otherDatabase }) => {
  const [wallet = ''] = busiest.history;
  const [now, before] = [
    await walk('history', wallet, { db, turns: [db] }),
    await walk('history', wallet, { db, turns: [otherDatabase.db] }),
  ];
  expect(now.length).toBeGreaterThan(before.length);
  expect(now.slice(-before.length)).toEqual(before);
});
