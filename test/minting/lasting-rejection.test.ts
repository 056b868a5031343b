import { expect, test } from 'vitest';
import { createLaneMemory, memoryOf, type Refused } from '../../src/rwa/mint-worker/context/lane-memory.ts';
import { hasLasted } from '../../src/rwa/mint-worker/watch/resend/answer-refusal.ts';

const minute = 60_000;
const settings = {
  feeCap: 1n,
  maxInFlight: 16,
  blockShare: 50,
  stuckBlocks: 10,
  pollMs: 1_000,
  rebroadcastMs: 15_000,
  leaseSeconds: 15,
  refreshSeconds: 60,
  standstillSeconds: 1_800,
};
const refused: Refused = { looks: 1, words: 'Internal error', isAnswer: true };

/** Polls at these minutes and blocks. @returns when the rejection has lasted, by minutes */
function pollAt(polls: readonly (readonly [number, bigint])[]): number[] {
  const memory = createLaneMemory();
  memoryOf(memory, '1').refused = refused;
  return polls.flatMap(([at, number]) => {
    const context = { memory, settings, now: () => at * minute };
    return hasLasted({ context, head: { number } }, '1', memoryOf(memory, '1').refused ?? refused)
      ? [at]
      : [];
  });
}
const minutes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('a rejection lasts after ten minutes and as many blocks as a stuck transaction waits', () => {
  expect(pollAt(minutes(0, 12).map((at) => [at, BigInt(at)]))).toEqual([10, 11, 12]);
  expect(pollAt(minutes(0, 12).map((at) => [at, BigInt(5 * at)]))).toEqual([10, 11, 12]);
});

test('it does not while no blocks are made', () => {
  expect(pollAt(minutes(0, 30).map((at) => [at, at < 25 ? 9n : 9n + 10n]))).toEqual(minutes(25, 30));
  expect(pollAt(minutes(0, 30).map((at) => [at, 9n]))).toEqual([]);
});

test('its time begins again after a pause in which the chain could not be asked', () => {
  const polls = [...minutes(0, 9), ...minutes(14, 25)].map((at) => [at, BigInt(100 * at)] as const);
  expect(pollAt(polls)).toEqual([24, 25]);
});
