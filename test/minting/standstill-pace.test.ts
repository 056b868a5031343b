import { expect, test } from 'vitest';
import { createBlockPace } from '../../src/rwa/mint-worker/standstill.ts';

test('the time that so many blocks took is that of blocks which the lane has seen, however many come between two polls', () => {
  const pace = createBlockPace();
  const seconds: number[] = [];
  // A poll takes five seconds at a slow node, while the chain makes ten blocks a second.
  for (let poll = 0; poll < 8; poll += 1) seconds.push(pace(BigInt(50 * poll), 5, poll * 5_000));
  expect(seconds.slice(0, 5)).toEqual(Array(5).fill(Number.POSITIVE_INFINITY));
  expect(seconds.slice(5)).toEqual([25, 25, 25]);
});

test('a poll that sees no new block does not count', () => {
  const pace = createBlockPace();
  for (let poll = 0; poll < 8; poll += 1) expect(pace(7n, 5, poll * 1_000)).toBe(Number.POSITIVE_INFINITY);
});
