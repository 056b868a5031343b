import type { ServerResponse } from 'node:http';
import { whenOver } from './when-over.ts';

/** How long callers wait for what they are told too often, so that who asks on without heed costs little. */
export type CallerDelays = {
  /** Counts an answer to a key or network. @returns milliseconds until it should be sent; 0 for at once */
  next(name: string): number;
};

// All who are refused for their rate are asked to wait for as long, at least.
const longestMs = 1_000;
// Those who wait as long as that, or somewhat longer, would else come back all at once, again and again.
const spreadMs = 250;

/**
 * Creates the delays: of one name, as many answers at once as go out in a second, and those of a second after that; the others
 * wait, a second and a quarter at most.
 * @param now a monotonic clock in milliseconds
 */
export function createCallerDelays(
  perSecond: number,
  now: () => number = () => performance.now(),
): CallerDelays {
  const eachMs = 1_000 / perSecond;
  const atOnceMs = 1_000;
  /** When the answers so far are over at that pace; whose last one is longest ago comes first. */
  const overAt = new Map<string, number>();

  const forget = (at: number) => {
    for (const [name, over] of overAt) {
      if (over > at) return;
      overAt.delete(name);
    }
  };

  return {
    next(name) {
      const at = now();
      // What is beyond the longest delay is not kept: who stops to ask is even again as soon as the last one has gone.
      const over = Math.min(Math.max(overAt.get(name) ?? 0, at) + eachMs, at + atOnceMs + longestMs);
      overAt.delete(name);
      forget(at);
      overAt.set(name, over);
      const delay = Math.max(0, over - at - atOnceMs);
      return Math.round(delay === longestMs ? delay + Math.random() * spreadMs : delay);
    },
  };
}

/**
 * Calls `answer` now or later. What waits is nothing that the process is at, and nothing is kept of who has left meanwhile.
 */
export function answerAfter(delayMs: number, response: ServerResponse, answer: () => void): void {
  if (delayMs === 0) {
    answer();
    return;
  }
  const timer = setTimeout(answer, delayMs);
  whenOver(response, () => clearTimeout(timer));
}
