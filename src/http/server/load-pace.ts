import type { EventLoopUtilization } from 'node:perf_hooks';

type PaceOptions = {
  /** Milliseconds over which it is measured. */
  readonly spanMs: number;
  readonly utilization: (before?: EventLoopUtilization) => EventLoopUtilization;
  /** Now, in milliseconds. */
  readonly began: number;
};

// What the event loop does besides waiting for something to do; the rest is the pause that it takes between two rounds.
const withoutPause = 0.95;
// What the process has answered lately is what it can, also when something large has stopped it for a moment.
const halfLifeMs = 2_000;

/** Measures how fast the process answers, and whether it could do more. Without requests it does nothing. */
export function createPace({ spanMs, utilization, began }: PaceOptions) {
  let since = began;
  let loop = utilization();
  let answers = 0;
  let perMs = 0;
  let latestPerMs = 0;
  let isWithoutPause = false;
  return {
    /** Answers a millisecond: the most of the last seconds. */
    perMs: () => perMs,
    /** The same of the last span. */
    latestPerMs: () => latestPerMs,
    /** Whether the event loop had always something to do. */
    isWithoutPause: () => isWithoutPause,
    noteAnswer() {
      answers += 1;
    },
    /** To be called again and again. @returns whether a span is over */
    look(at: number): boolean {
      const took = at - since;
      if (took < spanMs) return false;
      isWithoutPause = utilization(loop).utilization >= withoutPause;
      latestPerMs = answers / took;
      perMs = Math.max(latestPerMs, perMs * 0.5 ** (took / halfLifeMs));
      [since, loop, answers] = [at, utilization(), 0];
      return true;
    },
  };
}
