import { setTimeout as delay } from 'node:timers/promises';

export type PollTrigger = {
  /**
   * Ends the current wait, or the next one when nobody waits.
   * @param causes each a `traceparent`
   */
  fire(causes: readonly string[]): void;
  /** Waits until the trigger fires, for this time at most. */
  wait(ms: number): Promise<void>;
  /** Returns what the trigger was fired for since the last call. */
  takeCauses(): readonly string[];
};

// A poll names no more. Only the traces of the others are lost.
const mostCauses = 100;

/** Creates a trigger that resets itself after each wait. Several firings before a wait count as one. */
export function createPollTrigger(): PollTrigger {
  let fired = false;
  let endWait = () => {};
  let causes: readonly string[] = [];

  return {
    fire(more) {
      causes = [...causes, ...more].slice(0, mostCauses);
      fired = true;
      endWait();
    },
    async wait(ms) {
      if (!fired) {
        const ended = new AbortController();
        endWait = () => ended.abort();
        // Rejects only when it is aborted, which is a normal end here.
        await delay(ms, undefined, { signal: ended.signal }).catch(() => {});
      }
      fired = false;
    },
    takeCauses() {
      const taken = causes;
      causes = [];
      return taken;
    },
  };
}
