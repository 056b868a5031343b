import { setTimeout } from 'node:timers/promises';

/** The time as the client sees it; tests pass their own. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  /** @throws when the signal aborts before the time is over */
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
};
