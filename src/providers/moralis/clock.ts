import { setTimeout } from 'node:timers/promises';

/** The clock of the client; tests pass their own. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  /** @throws when the signal aborts first */
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
};
