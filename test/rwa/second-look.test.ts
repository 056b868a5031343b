import { expect, test } from 'vitest';
import type { Head } from '../../src/chain/minting/mint-node.ts';
import type { LaneContext } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { createLaneMemory, type LaneMemory } from '../../src/rwa/mint-worker/context/lane-memory.ts';
import { isSeenTwice } from '../../src/rwa/mint-worker/context/second-look.ts';

const blockOf = (number: bigint): Head => ({
  number,
  hash: `0x${number}`,
  parentHash: `0x${number - 1n}`,
  time: new Date(0),
  baseFee: null,
  gasLimit: 0n,
});

/** A poll whose newest final block is this one. */
function poll(memory: LaneMemory, finalized: bigint): LaneContext {
  const node = {
    finalized,
    block: async (number: bigint) => blockOf(number),
    chainId: async () => 77n,
  };
  return { memory, node, network: { chainId: '77' } } as unknown as LaneContext; // what a look asks
}

test('a count is seen twice on a chain that makes no block without a transaction, once its block is final', async () => {
  const memory = createLaneMemory();
  const look = (final: bigint) => isSeenTwice(poll(memory, final), 'count', '7', blockOf(100n));
  expect([await look(90n), await look(99n), await look(100n)]).toEqual([false, false, true]);
});
