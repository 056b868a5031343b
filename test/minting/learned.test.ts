import { expect, test } from 'vitest';
import type { LaneContext } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { createLaneMemory } from '../../src/rwa/mint-worker/context/lane-memory.ts';
import { learn, learnTokens, mostTokensOf, quoteAt } from '../../src/rwa/mint-worker/context/market.ts';

const hour = 3_600_000;
const head = { number: 1n, hash: '0x1', parentHash: '0x0', time: new Date(0), baseFee: 8n, gasLimit: 0n };

test('what a lane learns of nodes ends by itself, whatever else it learns', async () => {
  let now = 0;
  const context = {
    memory: createLaneMemory(),
    network: { minTip: '0' },
    node: { market: async () => ({ baseFee: 8n, suggested: 2n }) },
    settings: { feeCap: 1_000n },
    now: () => now,
  } as unknown as LaneContext; // what prices need
  const usual = { maxFeePerGas: 18n, maxPriorityFeePerGas: 2n };

  learn(context, { tip: 5n });
  now = 0.25 * hour;
  learnTokens(context, '0xa', 7);
  now = 0.5 * hour;
  learn(context, { isLegacy: true });
  expect(await quoteAt(context, head)).toEqual({ maxFeePerGas: 14n, maxPriorityFeePerGas: null });
  now = 0.75 * hour;
  learnTokens(context, '0xb', 0);
  expect([mostTokensOf(context, '0xa'), mostTokensOf(context, '0xb')]).toEqual([7, 0]);

  now = hour;
  expect(await quoteAt(context, head)).toEqual({ maxFeePerGas: 11n, maxPriorityFeePerGas: null });
  now = 1.25 * hour;
  expect([mostTokensOf(context, '0xa'), mostTokensOf(context, '0xb')]).toEqual([Number.POSITIVE_INFINITY, 0]);
  now = 1.5 * hour;
  expect(await quoteAt(context, head)).toEqual(usual);
});
