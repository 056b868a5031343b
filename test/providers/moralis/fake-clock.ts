import type { Clock } from '../../../src/providers/moralis/clock.ts';

/** A clock that stands still but for the waits, which are over at once and kept for the test to read. */
export function fakeClock(): Clock & {
  readonly waits: number[];
  advance(ms: number): void;
  setBack(ms: number): void;
} {
  const waits: number[] = [];
  let now = 0;
  let calendar = Date.UTC(2027, 0, 1);
  return {
    waits,
    now: () => now,
    date: () => calendar + now,
    async wait(ms, signal) {
      signal.throwIfAborted();
      waits.push(ms);
      now += ms;
    },
    advance(ms) {
      now += ms;
    },
    setBack(ms) {
      calendar -= ms;
    },
  };
}
