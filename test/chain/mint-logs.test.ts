import { describe, expect, test } from 'vitest';
import type { BlockRange, FoundMint } from '../../src/chain/minting/evidence-node.ts';
import {
  createLogWidth,
  createMintSearch,
  forgetFailures,
  type LogWidth,
  type MintSearch,
  searchMints,
} from '../../src/chain/minting/mint-logs.ts';

const mintIn = (block: bigint, tokenId = '1'): FoundMint => ({
  tokenId,
  hash: `0x${block}`,
  blockNumber: block,
  blockHash: `0xb${block}`,
  recipient: '0x',
});

type NodeOptions = {
  readonly mints: readonly FoundMint[];
  readonly widest?: bigint;
  /** The oldest block whose logs the node has. */
  readonly oldest?: bigint;
};

/** A node that gives logs of so many blocks at once, and of no block before its oldest one. */
function nodeWith({ mints, widest = 1_000_000n, oldest = 0n }: NodeOptions) {
  const asked: BlockRange[] = [];
  const answered: BlockRange[] = [];
  let left = Number.POSITIVE_INFINITY;
  const ask = async (range: BlockRange) => {
    if (left === 0) throw new Error('enough');
    left -= 1;
    asked.push(range);
    if (range.from < oldest) throw new Error('pruned history unavailable');
    if (range.to - range.from + 1n > widest)
      throw new Error(`eth_getLogs is limited to a ${widest} block range`);
    answered.push(range);
    return mints.filter(({ blockNumber }) => blockNumber >= range.from && blockNumber <= range.to);
  };
  return {
    asked,
    answered,
    /** Resumes until the search has ended, with so many questions at a time. */
    async search(options: Partial<Parameters<typeof searchMints>[3]> & { readonly questions?: number } = {}) {
      const { questions = Number.POSITIVE_INFINITY, ...bounds } = options;
      const state: { search: MintSearch; width: LogWidth; polls: number } = {
        search: createMintSearch(['1', '2']),
        width: createLogWidth(),
        polls: 0,
      };
      for (;;) {
        left = questions;
        state.polls += 1;
        forgetFailures(state.width);
        try {
          const end = await searchMints(state.search, ask, state.width, {
            lowest: 0n,
            final: 99_900n,
            head: 99_999n,
            origin: async () => undefined,
            ...bounds,
          });
          return { ...end, ...state };
        } catch (error) {
          if (!(error instanceof Error) || error.message !== 'enough' || state.polls > 1_000) throw error;
        }
      }
    },
  };
}

/** Whether the ranges cover these blocks without a hole. */
function covers(ranges: readonly BlockRange[], from: bigint, to: bigint): boolean {
  let next = from;
  for (const range of ranges.toSorted((one, other) => Number(one.from - other.from))) {
    if (range.from > next) return false;
    if (range.to >= next) next = range.to + 1n;
  }
  return next > to;
}

describe('the mints of tokens', () => {
  test('are asked for at once where the node gives them', async () => {
    const node = nodeWith({ mints: [mintIn(7n)] });
    const { mints } = await node.search();
    expect(mints.get('1')).toEqual(mintIn(7n));
    expect(node.asked).toEqual([{ from: 0n, to: 99_999n }]);
  });

  test.each([0n, 1n, 4_999n, 63_000n, 99_950n, 99_999n])(
    'are found in block %d by a node that gives few blocks at once, a few questions at a time',
    async (block) => {
      const node = nodeWith({ mints: [mintIn(block)], widest: 500n });
      const { mints } = await node.search({ questions: 7 });
      expect(mints.get('1')).toEqual(mintIn(block));
    },
  );

  test('are the newest where there are several', async () => {
    const node = nodeWith({ mints: [mintIn(10n), mintIn(90_000n)], widest: 500n });
    expect((await node.search()).mints.get('1')).toEqual(mintIn(90_000n));
  });

  test('are none only when every block was asked for, and none is asked for twice', async () => {
    const node = nodeWith({ mints: [], widest: 500n });
    const { mints, missing } = await node.search({ questions: 20 });
    expect([mints.size, missing]).toEqual([0, undefined]);
    expect(covers(node.answered, 0n, 99_999n)).toBe(true);
    // The hundred blocks that are not final yet are asked for again by each of the polls.
    expect(node.answered.filter(({ to }) => to <= 99_900n).length).toBeLessThan(250);
  });

  test('are not searched for before the lowest block, nor before the creation of the contract', async () => {
    const node = nodeWith({ mints: [], widest: 500n });
    await node.search({ lowest: 50_000n, origin: async () => 90_000n });
    // But for the question for all at once.
    expect(node.asked.slice(1).every(({ from }) => from >= 90_000n)).toBe(true);
    const known = nodeWith({ mints: [], widest: 500n });
    await known.search({ lowest: 99_000n, origin: async () => 5n });
    expect(known.asked.every(({ from }) => from >= 99_000n)).toBe(true);
  });

  test('that are not found stay unknown where the node no longer has all blocks, and those are named', async () => {
    const node = nodeWith({ mints: [], oldest: 60_123n });
    const { missing } = await node.search({ questions: 20 });
    expect(missing).toEqual({ from: 0n, to: 60_122n });
    expect(covers(node.answered, 60_123n, 99_999n)).toBe(true);
  });

  test('are found in what a node has kept, though it has dropped the rest', async () => {
    const node = nodeWith({ mints: [mintIn(70_000n), mintIn(61_000n, '2')], oldest: 60_000n });
    const { mints, missing } = await node.search();
    expect([mints.size, missing]).toEqual([2, undefined]);
  });

  test('cost one question while dropped blocks stay dropped', async () => {
    const node = nodeWith({ mints: [], oldest: 60_123n });
    const { search, width } = await node.search();
    const before = node.asked.length;
    const ask = async (range: BlockRange): Promise<FoundMint[]> => {
      node.asked.push(range);
      if (range.from < 60_123n) throw new Error('pruned history unavailable');
      return [];
    };
    const bounds = { lowest: 0n, final: 99_900n, head: 99_999n, origin: async () => undefined };
    expect(await searchMints(search, ask, width, bounds)).toMatchObject({
      missing: { from: 0n, to: 60_122n },
    });
    // One for the blocks that are not final yet, one for the newest of the dropped ones.
    expect(node.asked.length - before).toBe(2);
  });

  test('stay unknown when the node fails for another reason', async () => {
    const search = createMintSearch(['1']);
    const ask = async () => {
      throw new Error('connection reset');
    };
    const bounds = { lowest: 0n, final: 3n, head: 5n, origin: async () => undefined };
    await expect(searchMints(search, ask, createLogWidth(), bounds)).rejects.toThrow('connection reset');
  });
});

describe('the width of a question', () => {
  test('is learned and kept', async () => {
    const node = nodeWith({ mints: [], widest: 2_000n });
    const { width } = await node.search();
    expect(width.blocks).toBeGreaterThanOrEqual(500n);
    expect(width.blocks).toBeLessThanOrEqual(2_000n);
    const refusals = node.asked.length - node.answered.length;
    expect(refusals).toBeLessThan(8);
  });
});
