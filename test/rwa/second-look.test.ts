import { expect, test } from 'vitest';
import type { ContractLook } from '../../src/chain/minting/evidence-node.ts';
import type { Head } from '../../src/chain/minting/mint-node.ts';
import type { LaneContext } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { createLaneMemory } from '../../src/rwa/mint-worker/context/lane-memory.ts';
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

const memory = createLaneMemory();
/** A poll whose newest final block is this one, and shows this at the address at each block. */
function poll(finalized: bigint, shown: ContractLook): LaneContext {
  const node = {
    finalized,
    block: async (number: bigint) => blockOf(number),
    chainId: async () => 77n,
    lookAt: async () => shown,
  };
  return { memory, node, network: { chainId: '77' } } as unknown as LaneContext; // what a look asks
}

test('a contract that was deployed after a first look needs two new looks to count as none', async () => {
  expect(await unfitContract(poll(100n, 'no_code'), contract)).toBe('doubted');
  expect(await refuseUnfit(poll(200n, 'contract'), blockOf(210n), contract)).toBeUndefined();
  // A single wrong answer.
  expect(await unfitContract(poll(300n, 'no_code'), contract)).toBe('doubted');
});
