import { describe, expect, test } from 'vitest';
import type { IndexedBlock } from '../../src/providers/indexer/decode/domain.ts';
import {
  decodeRecorded,
  fixturesLike,
  type RecordedBlock,
  readFixture,
  recordedBlocks,
} from '../support/recorded-chain.ts';

type Oracle = {
  readonly transfers: readonly {
    readonly transactionHash: string;
    readonly logIndex: number;
    readonly tokenAddress: string;
    readonly standard?: 'erc20' | 'erc721';
    readonly from: string;
    readonly to: string;
    readonly value?: string;
    readonly tokenId?: string;
  }[];
};

const oracles = fixturesLike('*/*.transfers');

describe('ERC-20 and ERC-721 transfers', () => {
  test.each(oracles)('finds every transfer of %s that others found, and none besides', (name) => {
    const { transfers } = readFixture<Oracle>(name);
    const expected = transfers.map(({ transactionHash, logIndex, tokenAddress, from, to, ...rest }) =>
      [transactionHash, logIndex, tokenAddress, from, to, rest.tokenId ?? rest.value].join(' ').toLowerCase(),
    );
    const found = transfersOf(decodeRecorded(name.replace('.transfers', '')));
    expect(found.sort()).toEqual(expected.sort());
  });

  test.each(oracles)('tells the standards of %s apart as others do', (name) => {
    const { transfers } = readFixture<Oracle>(name);
    const { transactions } = decodeRecorded(name.replace('.transfers', ''));
    const count = (standard: string) => transfers.filter((transfer) => transfer.standard === standard).length;
    if (count('erc20') + count('erc721') === 0) return; // this source does not tell
    const erc20 = transactions.flatMap((transaction) => transaction.erc20);
    expect(erc20.filter(({ kind }) => kind === 'transfer')).toHaveLength(count('erc20'));
    const nft = transactions.flatMap((transaction) => transaction.nft);
    expect(nft.filter(({ standard }) => standard === 'ERC721')).toHaveLength(count('erc721'));
  });

  test('has oracles for 1,905 transfers of 16 blocks', () => {
    const counts = oracles.map((name) => readFixture<Oracle>(name).transfers.length);
    expect([counts.length, counts.reduce((sum, count) => sum + count, 0)]).toEqual([16, 1905]);
  });
});

function transfersOf({ transactions }: IndexedBlock): string[] {
  return transactions.flatMap(({ hash, erc20, nft }) => [
    ...erc20
      .filter(({ kind }) => kind === 'transfer')
      .map(({ logIndex, token, from, to, value }) => [hash, logIndex, token, from, to, value].join(' ')),
    ...nft
      .filter(({ standard }) => standard === 'ERC721')
      .map(({ logIndex, token, from, to, tokenId }) => [hash, logIndex, token, from, to, tokenId].join(' ')),
  ]);
}

type Erc1155Oracle = {
  readonly blocks: readonly {
    readonly chain: string;
    readonly blockNumber: number;
    readonly events: readonly {
      readonly transactionHash: string;
      readonly logIndex: number;
      readonly tokenAddress: string;
      readonly operator: string;
      readonly from: string;
      readonly to: string;
      readonly kind: 'single' | 'batch';
      readonly ids: readonly string[];
      readonly values: readonly string[];
    }[];
  }[];
};

// This block came after the reading.
const readBefore = recordedBlocks.filter((name) => name !== 'polygon/20000000');

describe('ERC-1155 transfers', () => {
  const { blocks } = readFixture<Erc1155Oracle>('erc1155');

  test('agrees with an earlier reading on every single and batch of its blocks', () => {
    const expected = blocks.flatMap(({ events }) =>
      events.flatMap((event) =>
        event.ids.map((id, part) =>
          [event.transactionHash, event.logIndex, part, event.tokenAddress, event.operator]
            .concat([event.from, event.to, id, event.values[part] ?? '', event.kind === 'batch' ? 'b' : 's'])
            .join(' '),
        ),
      ),
    );
    const found = readBefore.flatMap((name) =>
      decodeRecorded(name).transactions.flatMap(({ hash, nft }) =>
        nft
          .filter(({ standard }) => standard === 'ERC1155')
          .map(({ logIndex, part, token, operator, from, to, tokenId, amount, batch }) =>
            [hash, logIndex, part, token, operator, from, to, tokenId, amount, batch ? 'b' : 's'].join(' '),
          ),
      ),
    );
    expect(found.length).toBeGreaterThan(132);
    expect(found.sort()).toEqual(expected.sort());
  });

  test('agrees with the arguments wherever a transaction itself called safeTransferFrom', () => {
    let compared = 0;
    for (const name of recordedBlocks) {
      const { block } = readFixture<RecordedBlock>(name);
      const { transactions } = decodeRecorded(name);
      for (const [index, { input, to }] of block.transactions.entries()) {
        const transaction = transactions[index];
        if (!input.startsWith('0xf242432a') || transaction?.succeeded !== true) continue;
        const word = (place: number) => BigInt(`0x${input.slice(10 + 64 * place, 74 + 64 * place)}`);
        const moved = transaction.nft.filter(({ token, batch }) => token === to && !batch);
        expect(moved.map((movement) => [BigInt(movement.from), BigInt(movement.to)])).toEqual([
          [word(0), word(1)],
        ]);
        expect(moved.map(({ tokenId, amount }) => [tokenId, amount])).toEqual([[word(2), word(3)]]);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(0);
  });
});
