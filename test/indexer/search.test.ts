import { afterAll, describe, expect } from 'vitest';
import { createIndexerProvider } from '../../src/providers/indexer/indexer-provider.ts';
import { sortRows } from '../../src/providers/indexer/store/rows/facet-store.ts';
import { nftChanges, sumChanges } from '../../src/providers/indexer/store/rows/nft-changes.ts';
import { walletMoves } from '../../src/providers/indexer/store/rows/wallet-moves.ts';
import type {
  DataProvider,
  HistoryFilter,
  HistoryRecord,
  NftEntry,
} from '../../src/providers/shared/provider.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { decodeRecorded, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { walk } from '../support/walk.ts';
import { createTestIndex, dumpIndex, mostOften } from './index-fixture.ts';

const names = [1, 2, 3, 4, 5, 6, 7].map((number) => `ethereum/1768611${number}`);
const blocks = names.map((name) => decodeRecorded(name));
const transactions = new Map(blocks.flatMap((block) => block.transactions.map((each) => [each.hash, each])));
let node: ReplayNode;
let index: ReturnType<typeof createTestIndex>;
let reader: Pick<DataProvider, 'history' | 'nfts'>;

test.beforeAll(async ({ database }) => {
  const recorded = names.map((name) => readFixture<RecordedBlock>(name));
  node = await startReplayNode('1', recorded);
  const wrapped = ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'];
  index = createTestIndex(database, node.url, {
    chainId: '1',
    startBlock: 17_686_111n,
    traceMethod: 'debug',
    maxBatch: 3,
    wrapped,
  });
  node.setHead(recorded.at(-1)?.block.hash ?? '');
  await index.follow();
  reader = createIndexerProvider(database);
});

afterAll(async () => {
  index.close();
  await node.close();
});

type Walk = { readonly order?: 'ASC' | 'DESC'; readonly limit?: number };

async function historyOf(
  address: string,
  filter: HistoryFilter,
  { order = 'ASC', limit = 100 }: Walk = {},
): Promise<HistoryRecord[]> {
  const question = { network: index.network, address, order, limit, filter };
  const pages = await walk((position) => reader.history({ ...question, position }));
  return pages.flatMap(({ records }) => records);
}

/** Wallets by the number of their transactions, the busiest first. */
const busiest = () => mostOften([...transactions.values()].flatMap((each) => [...walletMoves(each).keys()]));

/** The other side of each transfer of a record, what was transferred, and where to. */
function transfersOf(record: HistoryRecord) {
  const other = (each: { from_address: string; to_address: string | null; direction: string }) =>
    each.direction === 'send' ? each.to_address : each.from_address;
  return [
    ...record.native_transfers.map((each) => ({ each, token: null })),
    ...record.erc20_transfers.map((each) => ({ each, token: each.address })),
    ...record.nft_transfers.map((each) => ({ each, token: each.token_address })),
  ].map(({ each, token }) => ({ token, other: other(each), direction: each.direction }));
}

/** Whether a record is what the contract says that the search selects, worked out from its fields alone. */
function isSelected(record: HistoryRecord, wallet: string, filter: HistoryFilter): boolean {
  const { fromBlock, toBlock, fromDate, toDate, category, direction, token, counterparty } = filter;
  const number = BigInt(record.block_number);
  const time = new Date(record.block_timestamp);
  if (fromBlock !== undefined && number < fromBlock) return false;
  if (toBlock !== undefined && number > toBlock) return false;
  if (fromDate !== undefined && time < fromDate) return false;
  if (toDate !== undefined && time > toDate) return false;
  if (category !== undefined && !category.includes(record.category)) return false;
  if (filter.includeSpam === false && record.possible_spam) return false;
  if (direction === undefined && token === undefined && counterparty === undefined) return true;
  const found = transactions.get(record.hash);
  const approvals = (found?.approvals ?? []).filter(({ owner }) => owner === wallet);
  const called = record.from_address === wallet ? (record.to_address ?? found?.created) : record.from_address;
  const isParty = [record.from_address, record.to_address, found?.created].includes(wallet);
  const contacts = [
    ...transfersOf(record),
    ...approvals.map((each) => ({ token: each.token, other: each.spender, direction: 'none' })),
    ...(isParty ? [{ token: null, other: called, direction: 'none' }] : []),
  ];
  return contacts.some(
    (each) =>
      (token === undefined || token.includes(each.token ?? '')) &&
      (counterparty === undefined || each.other === counterparty) &&
      (direction === undefined || each.direction === direction),
  );
}

/** Searches of every kind for what a wallet has and what it has not. */
function searchesOf(records: readonly HistoryRecord[]): HistoryFilter[] {
  const transfers = records.flatMap(transfersOf);
  const tokens = mostOften(transfers.flatMap(({ token }) => token ?? []));
  const others = mostOften(transfers.flatMap(({ other }) => other ?? [])).slice(0, 3);
  const callers = mostOften(
    records.flatMap(({ from_address, to_address }) => [from_address, to_address ?? '']),
  );
  const categories = mostOften(records.map(({ category }) => category)) as HistoryRecord['category'][];
  const time = new Date(records[0]?.block_timestamp ?? 0);
  return [
    ...categories.map((category) => ({ category: [category] })),
    { category: categories.slice(0, 2) },
    ...(['send', 'receive'] as const).flatMap((direction) => [
      { direction },
      { direction, category: categories.slice(0, 1) },
      ...others.map((counterparty) => ({ direction, counterparty })),
      ...tokens.slice(0, 2).map((token) => ({ direction, token: [token] })),
    ]),
    ...tokens.slice(0, 3).map((token) => ({ token: [token] })),
    { token: tokens.slice(0, 10) },
    ...others.map((counterparty) => ({ counterparty })),
    ...others.map((counterparty) => ({ counterparty, token: tokens.slice(0, 3) })),
    ...callers.slice(0, 3).map((counterparty) => ({ counterparty })),
    { includeSpam: false as const },
    { includeSpam: false as const, token: tokens.slice(0, 1), direction: 'receive' as const },
    { fromBlock: 17_686_113n, toBlock: 17_686_115n },
    { fromBlock: 17_686_114n, category: categories.slice(0, 1) },
    { fromDate: time, toDate: new Date(time.getTime() + 24_000) },
    { fromDate: new Date(time.getTime() + 1) },
    { toDate: new Date(time.getTime() - 1) },
    { fromDate: new Date('2100-01-01') },
    { toDate: new Date(time.getTime() + 12_000), token: tokens.slice(0, 1) },
  ];
}

describe('a search', () => {
  test('finds in 15 histories of real blocks what their records say, and nothing besides', async () => {
    let found = 0;
    let searches = 0;
    for (const wallet of busiest().slice(0, 15)) {
      const all = await historyOf(wallet, {});
      for (const filter of searchesOf(all)) {
        const expected = all.filter((record) => isSelected(record, wallet, filter));
        expect(
          await historyOf(wallet, filter),
          JSON.stringify({ wallet, filter }, (_, v) => String(v)),
        ).toEqual(expected);
        found += expected.length;
        searches += 1;
      }
    }
    expect(searches).toBeGreaterThan(300);
    expect(found).toBeGreaterThan(3_000);
  });

  test('has each record once and in order, whatever the size of a page', async () => {
    const [wallet = ''] = busiest();
    const all = await historyOf(wallet, {});
    for (const filter of searchesOf(all).slice(0, 12)) {
      const expected = all.filter((record) => isSelected(record, wallet, filter));
      for (const limit of [3, 10]) {
        expect(await historyOf(wallet, filter, { limit })).toEqual(expected);
        expect(await historyOf(wallet, filter, { limit, order: 'DESC' })).toEqual(expected.toReversed());
      }
    }
  });

  test('compares whole addresses, not only what the index keeps of them', async () => {
    const wallet = '0x28c6c06298d514db089934071355e5743bf21d60';
    const [token = ''] = mostOften(
      (await historyOf(wallet, {})).flatMap(transfersOf).flatMap((each) => each.token ?? []),
    );
    const alike = `${token.slice(0, -2)}${token.endsWith('00') ? '01' : '00'}`;
    expect((await historyOf(wallet, { token: [token] })).length).toBeGreaterThan(0);
    expect(await historyOf(wallet, { token: [alike] })).toEqual([]);
  });
});

const page = (address: string, order: 'ASC' | 'DESC', limit: number, position?: string) => ({
  network: index.network,
  address,
  order,
  limit,
  position,
});

/** Contract, token and amount of what a wallet owns, in the order of acquisition. */
function expectedTokens(wallet: string, upTo: number): string[] {
  const changes = blocks.slice(0, upTo).flatMap(nftChanges);
  const place = (value: bigint | number) => String(value).padStart(80, '0');
  const own = changes.filter((change) => change.wallet === wallet);
  const nameOf = ({ contract, tokenId }: { contract: string; tokenId: bigint }) => `${contract}${tokenId}`;
  // What the wallet lost later, without having got it in these blocks, it had.
  const later = blocks.slice(upTo).flatMap(nftChanges);
  const had = sumChanges(later.filter((change) => change.wallet === wallet))
    .filter((holding) => holding.start === 1n && !own.some((change) => nameOf(change) === nameOf(holding)))
    .map((holding) => ({ ...holding, amount: 1n, acquired: undefined }));
  return [...sumChanges(own), ...had]
    .filter(({ amount }) => amount > 0n)
    .map(({ contract, tokenId, amount, acquired }) => ({
      key:
        [acquired?.blockNumber, acquired?.logIndex].map((part) => place(part ?? 0)).join() +
        contract +
        place(tokenId),
      text: `${contract} ${tokenId} ${amount}`,
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ text }) => text);
}

const textOf = ({ token_address, token_id, amount }: NftEntry) => `${token_address} ${token_id} ${amount}`;

/** Wallets by the number of NFTs that they got and lost. */
const owners = () => mostOften(blocks.flatMap(nftChanges).map(({ wallet }) => wallet));

describe('a whole walk', () => {
  test('of NFTs as of a block, or of its time, has what each of 20 wallets owned then', async () => {
    for (const wallet of owners().slice(0, 20)) {
      for (const upTo of [1, 3, 5, 7]) {
        const { header } = blocks[upTo - 1] ?? blocks[0] ?? { header: { number: 0n, timestamp: 0n } };
        const toDate = new Date(Number(header.timestamp) * 1_000 + 500);
        for (const filter of [{ toBlock: header.number }, { toDate }]) {
          const pages = await walk((position) =>
            reader.nfts({ ...page(wallet, 'ASC', 3, position), filter }),
          );
          expect(pages.flatMap(({ entries }) => entries.map(textOf))).toEqual(expectedTokens(wallet, upTo));
        }
      }
    }
  });

  test('of a wallet that nobody knows is empty', async () => {
    const nobody = `0x${'0'.repeat(39)}1`;
    expect((await reader.nfts(page(nobody, 'ASC', 5))).entries).toEqual([]);
  });
});

describe('what cannot be answered', () => {
  test('is refused: a position that is none, a network without an index', async () => {
    const wallet = owners()[0] ?? '';
    await expect(reader.history(page(wallet, 'ASC', 5, 'x'))).rejects.toMatchObject({
      code: 'cursor_invalid',
    });
    await expect(reader.nfts(page(wallet, 'ASC', 5, '1.2'))).rejects.toMatchObject({
      code: 'cursor_invalid',
    });
    const network = { ...index.network, chainId: '999' };
    const unknown = { ...page(wallet, 'ASC', 5), network };
    await expect(reader.history(unknown)).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(reader.nfts(unknown)).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

describe('rows that were written before there was a search', () => {
  test('are sorted afterwards into the same rows; until then a search of their wallet is 503', async ({
    database,
  }) => {
    const { db } = database;
    const before = await dumpIndex(database, '1');
    const [wallet = ''] = busiest();
    await db.raw('UPDATE wallet_history SET kind = NULL');
    await db.raw('DELETE FROM history_facets');
    await expect(historyOf(wallet, { direction: 'send' })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    expect((await historyOf(wallet, { fromBlock: 17_686_113n })).length).toBeGreaterThan(0);
    while (await sortRows(db, '1'));
    expect(await dumpIndex(database, '1')).toEqual(before);
  });
});
