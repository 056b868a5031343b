import { describe, expect, test } from 'vitest';
import { searchLogs } from '../../src/chain/minting/mint-logs.ts';

type Range = { readonly fromBlock: string; readonly toBlock: string };

/** A node that gives logs of so many blocks at once; there is one in each of these blocks. */
function nodeWith(blocks: readonly number[], { widest, head }: { widest: number; head: number }) {
  const asked: Range[] = [];
  const ask = async (range: Range) => {
    asked.push(range);
    const from = Number(range.fromBlock);
    const to = range.toBlock === 'latest' ? head : Number(range.toBlock);
    if (to - from + 1 > widest) throw new Error(`eth_getLogs is limited to a ${widest} block range`);
    return blocks.filter((block) => block >= from && block <= to);
  };
  return { asked, search: () => searchLogs(ask, async () => BigInt(head)) };
}

describe('logs of a whole chain', () => {
  test('are asked for at once where the node gives them', async () => {
    const { asked, search } = nodeWith([7], { widest: 1_000, head: 99 });
    expect(await search()).toEqual([7]);
    expect(asked).toEqual([{ fromBlock: '0x0', toBlock: 'latest' }]);
  });

  test.each([0, 1, 4_999, 63_000, 99_999])(
    'are found in block %d by a node that gives few blocks at once',
    async (block) => {
      expect(await nodeWith([block], { widest: 500, head: 99_999 }).search()).toEqual([block]);
    },
  );

  test('are those of the newest blocks that have any', async () => {
    expect(await nodeWith([10, 90_000], { widest: 500, head: 99_999 }).search()).toEqual([90_000]);
  });

  test('are none only when every block was asked for', async () => {
    const { asked, search } = nodeWith([], { widest: 500, head: 4_321 });
    expect(await search()).toEqual([]);
    const answered = asked
      .filter(({ fromBlock, toBlock }) => toBlock !== 'latest' && Number(toBlock) - Number(fromBlock) < 500)
      .map(({ fromBlock, toBlock }) => [Number(fromBlock), Number(toBlock)] as const);
    for (const [index, [from]] of answered.entries()) expect(answered[index + 1]?.[1] ?? -1).toBe(from - 1);
    expect(answered[0]?.[1]).toBe(4_321);
  });

  test('stay unknown when that would take too many questions', async () => {
    await expect(nodeWith([], { widest: 2, head: 1_000_000 }).search()).rejects.toThrow('too few to search');
  });

  test('stay unknown when the node fails for another reason', async () => {
    const failing = searchLogs(
      async () => {
        throw new Error('connection reset');
      },
      async () => 5n,
    );
    await expect(failing).rejects.toThrow('connection reset');
  });
});
