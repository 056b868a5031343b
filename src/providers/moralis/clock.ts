import { setTimeout } from 'node:timers/promises';

/** The clock of the client; tests pass their own. */
export type Clock = {
  /** Milliseconds since any moment; never set back. */
  now(): number;
  /** Milliseconds since 1970, for dates that others write. */
  date(): number;
  /** @throws when the signal aborts first */
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Math.floor(performance.now()),
  date: () => Date.now(),
  wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
};
