import { describe, expect } from 'vitest';
import { knownWrappedNatives } from '../../src/chain/rpc/client/network.ts';
import type { WalletTransaction } from '../../src/providers/indexer/classify/stored-moves.ts';
import { listHistory } from '../../src/providers/indexer/read/history-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { blockAfter, startReplayNode } from '../support/node/replay.ts';
import { fixturesLike, type RecordedBlock, readFixture, recordedBlocks } from '../support/recorded-chain.ts';
import { createTestIndex } from './index-fixture.ts';

/**
 * The oracles of the recorded blocks against what the index holds of them, after it followed a node that replays
 * them. Each block is a network of its own, whose id is the place of the block in the list.
 */
const networkOf = (name: string) => String(1_000 + recordedBlocks.indexOf(name));

test.beforeAll(async ({ database }) => {
  for (const name of recordedBlocks) {
    const recorded = readFixture<RecordedBlock>(name);
    const chainId = networkOf(name);
    // Only beyond a block is it certain that a receipt is missing for good.
    const next = blockAfter(recorded);
    const node = await startReplayNode(chainId, [recorded, next]);
    node.setHead(next.block.hash);
    const wrapped = knownWrappedNatives[String(recorded.chainId)]?.toLowerCase();
    const index = createTestIndex(database, node.url, {
      chainId,
      startBlock: BigInt(recorded.block.number),
      traceMethod: recorded.traces === null ? 'none' : 'debug',
      wrapped: wrapped === undefined ? [] : [wrapped],
    });
    await index.follow();
    index.close();
    await node.close();
  }
});

/** Every row of the network, each wallet's history read as its pages are. */
const known = new Map<string, Promise<WalletTransaction[]>>();
const rowsOf = (database: TestDatabase, name: string) => {
  const rows = known.get(name) ?? readRows(database, name);
  known.set(name, rows);
  return rows;
};

async function readRows(database: TestDatabase, name: string): Promise<WalletTransaction[]> {
  const chainId = networkOf(name);
  const wallets: Buffer[] = await database
    .db('wallet_history')
    .where('chain_id', chainId)
    .distinct()
    .pluck('wallet');
  const pages = await Promise.all(
    wallets.map((wallet) =>
      listHistory(database.db, {
        chainId,
        wallet: `0x${wallet.toString('hex')}`,
        order: 'ASC',
        limit: 10_000,
        after: undefined,
      }),
    ),
  );
  return pages.flatMap((page) => (page?.rows ?? []).filter((row) => 'hash' in row));
}

/** What the histories of all wallets tell, each movement once. */
const told = <T>(rows: readonly WalletTransaction[], lines: (row: WalletTransaction) => readonly T[]) => [
  ...new Set(rows.flatMap(lines)),
];

type Transfer = {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly tokenAddress: string;
  readonly from: string;
  readonly to: string;
  readonly value?: string;
  readonly tokenId?: string;
};

describe('the histories of all wallets of a recorded block', () => {
  test.for(fixturesLike('*/*.transfers'))(
    'hold every transfer of %s and none besides',
    async (oracle, { database }) => {
      const { transfers } = readFixture<{ transfers: readonly Transfer[] }>(oracle);
      const expected = transfers.map(({ transactionHash, logIndex, tokenAddress, from, to, ...rest }) =>
        [transactionHash, logIndex, tokenAddress, from, to, rest.tokenId ?? rest.value]
          .join(' ')
          .toLowerCase(),
      );
      const found = told(
        await rowsOf(database, oracle.replace('.transfers', '')),
        ({ hash, moves: { erc20, nft } }) => [
          ...erc20
            .filter(({ kind }) => kind === 'transfer')
            .map(({ logIndex, token, from, to, value }) =>
              [hash, logIndex, token, from, to, value].join(' '),
            ),
          ...nft
            .filter(({ standard }) => standard === 'ERC721')
            .map(({ logIndex, token, from, to, tokenId }) =>
              [hash, logIndex, token, from, to, tokenId].join(' '),
            ),
        ],
      );
      // The zero address has no history, so what went from it to it is in none.
      const nobody = `0x${'0'.repeat(40)}`;
      expect(found.sort()).toEqual(expected.filter((line) => !line.includes(`${nobody} ${nobody}`)).sort());
    },
  );

  type Erc1155 = {
    readonly blocks: readonly {
      readonly events: readonly {
        readonly transactionHash: string;
        readonly logIndex: number;
        readonly tokenAddress: string;
        readonly ids: readonly string[];
        readonly values: readonly string[];
      }[];
    }[];
  };

  test('hold every ERC-1155 single and batch that was read before', async ({ database }) => {
    const expected = readFixture<Erc1155>('erc1155').blocks.flatMap(({ events }) =>
      events.flatMap(({ transactionHash, logIndex, tokenAddress, ids, values }) =>
        ids.map((id, part) => [transactionHash, logIndex, part, tokenAddress, id, values[part]].join(' ')),
      ),
    );
    const rows: WalletTransaction[] = [];
    // This block came after the reading.
    for (const name of recordedBlocks.filter((each) => each !== 'polygon/20000000')) {
      rows.push(...(await rowsOf(database, name)));
    }
    const found = told(rows, ({ hash, moves: { nft } }) =>
      nft
        .filter(({ standard }) => standard === 'ERC1155')
        .map(({ logIndex, part, token, tokenId, amount }) =>
          [hash, logIndex, part, token, tokenId, amount].join(' '),
        ),
    );
    expect(found.length).toBeGreaterThan(132);
    expect(found.sort()).toEqual(expected.sort());
  });

  test('hold every one of the 3,852 transactions, as its sender sees it', async ({ database }) => {
    let count = 0;
    for (const name of recordedBlocks) {
      const { block } = readFixture<RecordedBlock>(name);
      const rows = await rowsOf(database, name);
      const senders = new Set(
        rows.filter(({ wallet, transaction }) => wallet === transaction.from).map(({ hash }) => hash),
      );
      // Nobody has the history of the zero address, from which Polygon's state-sync transactions come.
      const sent = block.transactions.filter(({ from }) => BigInt(from) !== 0n);
      expect(sent.filter(({ hash }) => !senders.has(hash))).toEqual([]);
      count += block.transactions.length;
    }
    expect(count).toBe(3_852);
  });
});
