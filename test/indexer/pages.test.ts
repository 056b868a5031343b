import { afterAll, describe, expect } from 'vitest';
import { createIndexerProvider } from '../../src/providers/indexer/indexer-provider.ts';
import { nftChanges, sumChanges } from '../../src/providers/indexer/store/rows/nft-changes.ts';
import type { DataProvider, NftEntry } from '../../src/providers/shared/provider.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { decodeRecorded, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { createTestIndex, walk } from './index-fixture.ts';

const numbers = [17_686_111, 17_686_112, 17_686_113, 17_686_114, 17_686_115, 17_686_116, 17_686_117];
const names = numbers.map((number) => `ethereum/${number}`);
const blocks = names.map((name) => decodeRecorded(name));
const orders = ['ASC', 'DESC'] as const;
let node: ReplayNode;
let index: ReturnType<typeof createTestIndex>;
let reader: Pick<DataProvider, 'history' | 'nfts'>;

test.beforeAll(async ({ database }) => {
  const recorded = names.map((name) => readFixture<RecordedBlock>(name));
  node = await startReplayNode('1', recorded);
  const startBlock = BigInt(numbers[0] ?? 0);
  const wrapped = ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'];
  index = createTestIndex(database, node.url, {
    chainId: '1',
    startBlock,
    traceMethod: 'debug',
    maxBatch: 2,
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

const page = (address: string, order: 'ASC' | 'DESC', limit: number, position?: string) => ({
  network: index.network,
  address,
  order,
  limit,
  position,
  page: 0,
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

function walletsBySize(): string[] {
  const counts = new Map<string, number>();
  for (const change of blocks.flatMap(nftChanges))
    counts.set(change.wallet, (counts.get(change.wallet) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([wallet]) => wallet);
}

describe('a whole walk', () => {
  test('of NFTs has what each of 50 wallets owns in the order of acquisition', async () => {
    for (const wallet of walletsBySize().slice(0, 50)) {
      for (const order of orders) {
        const pages = await walk((position) => reader.nfts(page(wallet, order, 2, position)));
        const owned = pages.flatMap(({ entries }) => entries.map(textOf));
        const expected = expectedTokens(wallet, 7);
        expect(owned).toEqual(order === 'ASC' ? expected : expected.reverse());
      }
    }
  });

  test('of NFTs as of a block, or of its time, has what each of 20 wallets owned then', async () => {
    for (const wallet of walletsBySize().slice(0, 20)) {
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
    const wallet = walletsBySize()[0] ?? '';
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
