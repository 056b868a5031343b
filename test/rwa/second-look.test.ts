import { expect, test } from 'vitest';
import type { ContractLook } from '../../src/chain/minting/evidence-node.ts';
import type { Head } from '../../src/chain/minting/mint-node.ts';
import type { LaneContext } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { createLaneMemory, type LaneMemory } from '../../src/rwa/mint-worker/context/lane-memory.ts';
import { isSeenTwice } from '../../src/rwa/mint-worker/context/second-look.ts';
import { refuseUnfit, unfitContract } from '../../src/rwa/mint-worker/context/unfit-contract.ts';

const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const blockOf = (number: bigint): Head => ({
  number,
  hash: `0x${number}`,
  parentHash: `0x${number - 1n}`,
  time: new Date(0),
  baseFee: null,
  gasLimit: 0n,
});

/** A poll whose newest final block is this one, and shows this at the address at each block. */
function poll(memory: LaneMemory, finalized: bigint, shown: ContractLook = 'contract'): LaneContext {
  const node = {
    finalized,
    block: async (number: bigint) => blockOf(number),
    chainId: async () => 77n,
    lookAt: async () => shown,
  };
  return { memory, node, network: { chainId: '77' } } as unknown as LaneContext; // what a look asks
}

test('a contract that was deployed after a first look needs two new looks to count as none', async () => {
  const memory = createLaneMemory();
  expect(await unfitContract(poll(memory, 100n, 'no_code'), contract)).toBe('doubted');
  expect(await refuseUnfit(poll(memory, 200n, 'contract'), blockOf(210n), contract)).toBeUndefined();
  // A single wrong answer.
  expect(await unfitContract(poll(memory, 300n, 'no_code'), contract)).toBe('doubted');
});

test('a contract is none when two final blocks say so, and not when one is asked twice', async () => {
  const memory = createLaneMemory();
  for (const final of [100n, 100n])
    expect(await unfitContract(poll(memory, final, 'no_code'), contract)).toBe('doubted');
  expect(await unfitContract(poll(memory, 101n, 'no_code'), contract)).toMatchObject({ look: 'no_code' });
});

test('a count is seen twice on a chain that makes no block without a transaction, once its block is final', async () => {
  const memory = createLaneMemory();
  const look = (final: bigint) => isSeenTwice(poll(memory, final), 'count', '7', blockOf(100n));
  expect([await look(90n), await look(99n), await look(100n)]).toEqual([false, false, true]);
});
