import { expect, test } from 'vitest';
import { createNetworkPace } from '../../src/chain/rpc/pool/network-pace.ts';

function pace() {
  let now = 0;
  const network = createNetworkPace(() => now);
  const see = (number: bigint, afterMs: number) => {
    now += afterMs;
    network.saw(number);
    return network.intervalMs();
  };
  return see;
}

test('the pace of a network is the median time between its blocks', () => {
  const see = pace();
  expect(see(100n, 0)).toBeUndefined();
  expect(see(100n, 3_000)).toBeUndefined();
  expect(see(102n, 3_000)).toBe(3_000);
  expect(see(99n, 1_000)).toBe(3_000);
  expect(see(103n, 1_000)).toBe(3_000);
  expect(see(104n, 2_500)).toBe(2_500);
});

test('a leap is no pace, and who told of blocks that are not there does not stop it', () => {
  const see = pace();
  see(100n, 0);
  see(102n, 6_000);
  expect(see(1_000_000n, 1_000)).toBe(3_000);
  expect(see(103n, 1_000)).toBe(3_000);
  expect(see(105n, 2_000)).toBe(3_000);
  expect(see(107n, 2_000)).toBe(1_000);
});
