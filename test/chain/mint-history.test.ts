import { describe, expect, test } from 'vitest';
import { mintTopics } from '../../src/chain/minting/mint-contract.ts';
import { createMintHistory, type HistoryRange, mintPages } from '../../src/chain/minting/mint-history.ts';
import { NodesUnavailableError } from '../../src/chain/rpc/transport/node-fault.ts';

const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

/** Reads all pages from a node that answers in this way. */
async function read(to: bigint, answer: (width: bigint) => void) {
  const asked: bigint[] = [];
  const pages: HistoryRange[] = [];
  const allMintsIn = async (_contract: string, range: HistoryRange) => {
    const width = range.to - range.from + 1n;
    asked.push(width);
    answer(width);
    return [];
  };
  for await (const { from, to: last } of mintPages({ allMintsIn }, contract, { from: 0n, to })) {
    pages.push({ from, to: last });
  }
  return { asked, pages };
}

const isWhole = (pages: readonly HistoryRange[], to: bigint) =>
  pages.every((page, index) => page.from === (pages[index - 1]?.to ?? -1n) + 1n) && pages.at(-1)?.to === to;

describe('pages of mints', () => {
  test('cover every block once, as wide as the node accepts', async () => {
    const { asked, pages } = await read(9_999n, (width) => {
      if (width > 800n) throw new Error('query exceeds max block range 800');
    });
    expect(isWhole(pages, 9_999n)).toBe(true);
    expect(asked.length).toBeLessThan(60);
  });

  test('go on after an outage', async () => {
    const outages = [1, 2];
    const { pages } = await read(99n, () => {
      if (outages.pop() !== undefined) throw new NodesUnavailableError('1', []);
    });
    expect(isWhole(pages, 99n)).toBe(true);
  });

  test('end with the error of a node that is out for good, or refuses a single block', async () => {
    const out = new NodesUnavailableError('1', []);
    await expect(
      read(99n, () => {
        throw out;
      }),
    ).rejects.toBe(out);
    await expect(
      read(99n, () => {
        throw new Error('pruned history unavailable');
      }),
    ).rejects.toThrow('pruned history');
  });
});

test('a mint that a node tells twice is one', async () => {
  const word = (digits: string) => `0x${digits.padStart(64, '0')}`;
  const [topic, nobody] = mintTopics();
  const log = {
    address: contract,
    topics: [topic, nobody, word('a1'), word('7')],
    transactionHash: word('ab'),
    blockNumber: '0x5',
  };
  const elsewhere = { ...log, blockNumber: '0x6' };
  const history = createMintHistory({ send: async () => [log, elsewhere, log] });
  const mints = await history.allMintsIn(contract, { from: 0n, to: 9n });
  expect(mints.map(({ tokenId, blockNumber }) => [tokenId, blockNumber])).toEqual([
    ['7', 5n],
    ['7', 6n],
  ]);
});
