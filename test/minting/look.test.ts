import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LaneContext } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { createLaneMemory } from '../../src/rwa/mint-worker/context/lane-memory.ts';
import { lookAtChain } from '../../src/rwa/mint-worker/watch/evidence/look.ts';

const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const head = {
  number: 9n,
  hash: '0x09',
  parentHash: '0x08',
  time: new Date(0),
  baseFee: null,
  gasLimit: 30_000_000n,
};
const attempt = {
  number: 1,
  hash: '0x1',
  sentAtBlock: 1n,
  fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: null },
};

test('receipts are asked for a few at once, however many transactions and attempts there are', async () => {
  let now = 0;
  let most = 0;
  let all = 0;
  const node = {
    block: async () => null,
    transactionCount: async () => 0n,
    async receipt() {
      all += 1;
      now += 1;
      most = Math.max(most, now);
      await delay(1);
      now -= 1;
      return null;
    },
  };
  const signer = { address: contract };
  const context = { node, signer, network: {}, memory: createLaneMemory() } as unknown as LaneContext; // what a look asks
  const look = await lookAtChain(context, head, []);
  const transaction = { contract, attempts: [attempt, attempt, attempt] as const };
  const found = await Promise.all(Array.from({ length: 20 }, () => look.receiptOf(transaction)));
  expect(found.every((receipt) => receipt === null)).toBe(true);
  expect([all, most]).toEqual([60, 8]);
});
