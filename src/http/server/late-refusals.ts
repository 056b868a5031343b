import type { ServerResponse } from 'node:http';

const refusedLate = Symbol('refused for the load');
type Answer = ServerResponse & { [refusedLate]?: true };

/** Says of an answer that it refuses for the load what was taken on, such as behind a line for connections. */
export function markRefusedLate(response: Answer): void {
  response[refusedLate] = true;
}

export const isRefusedLate = (response: Answer): boolean => response[refusedLate] === true;

// As long as whoever is refused is asked to wait.
const holdMs = 1_000;

/** Remembers whose requests were refused late a moment ago: further ones would come to the same, at the price of answers. */
export function createLateRefusals(now: () => number) {
  const until = new Map<string, number>();
  let lastEnd = 0;
  return {
    hold(tenant: string): void {
      const at = now();
      lastEnd = at + holdMs;
      // Again at the end, so the first ones are those that are over first.
      until.delete(tenant);
      for (const [other, end] of until) {
        if (end > at) break;
        until.delete(other);
      }
      until.set(tenant, lastEnd);
    },
    /** Whether it is held of anybody. */
    isAnyHeld: (): boolean => lastEnd > now(),
    isHeld: (tenant: string): boolean => (until.get(tenant) ?? 0) > now(),
  };
}
