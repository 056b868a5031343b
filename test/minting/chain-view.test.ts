import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Receipt } from '../../src/chain/minting/mint-node.ts';
import { viewChain } from '../../src/rwa/mint-worker/watch/evidence/chain-view.ts';

const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const head = {
  number: 9n,
  hash: '0x09',
  parentHash: '0x08',
  time: new Date(0),
  baseFee: null,
  gasLimit: 30_000_000n,
};

/** A view of a chain whose node answers for receipts in this way. */
const viewWith = (receipt: (hash: string) => Promise<Receipt | null>) =>
  viewChain(
    {
      node: {
        receipt,
        block: async () => null,
        finalized: async () => -1n,
        transactionCount: async () => 0n,
      },
      network: { finalityDepth: 64 },
      signer: { address: contract },
    },
    head,
  );

/** A transaction with so many attempts. */
function transactionOf(count: number) {
  const attemptOf = (number: number) => ({
    number,
    hash: `0x${number}`,
    sentAtBlock: 1n,
    fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: null },
  });
  const [newest = attemptOf(1), ...older] = Array.from({ length: count }, (_, place) =>
    attemptOf(count - place),
  );
  return { contract, attempts: [newest, ...older] as const };
}

describe('receipts', () => {
  test('are asked for a few at once, however many transactions and attempts there are', async () => {
    let now = 0;
    let most = 0;
    let all = 0;
    const view = await viewWith(async () => {
      all += 1;
      now += 1;
      most = Math.max(most, now);
      await delay(1);
      now -= 1;
      return null;
    });
    const found = await Promise.all(Array.from({ length: 20 }, () => view.receiptOf(transactionOf(3))));
    expect(found.every((receipt) => receipt === null)).toBe(true);
    expect([all, most]).toEqual([60, 8]);
  });
});
