/** How long those who are refused for their rate wait for it, so that who asks on without heed costs little. */
export type RefusalDelays = {
  /** Counts a refusal of a key or address. @returns milliseconds until it should be sent; 0 for at once */
  next(name: string): number;
};

// A program with a key or two that obeys `Retry-After` never gets so many.
const perSecond = 50;
const atOnce = 50;
// All who are refused are asked to wait for as long, at least.
const longestMs = 1_000;

const eachMs = 1_000 / perSecond;

/** Creates the delays: of one name, 50 refusals at once and 50 a second after that; the others wait, a second at most. */
export function createRefusalDelays(now: () => number = () => performance.now()): RefusalDelays {
  /** When the refusals so far are over at that pace; whose last one is longest ago comes first. */
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
      const over = Math.min(Math.max(overAt.get(name) ?? 0, at) + eachMs, at + atOnce * eachMs + longestMs);
      overAt.delete(name);
      forget(at);
      overAt.set(name, over);
      return Math.max(0, Math.round(over - at - atOnce * eachMs));
    },
  };
}
