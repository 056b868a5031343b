import { setTimeout as delay } from 'node:timers/promises';

export type PollTrigger = {
  /** Ends the current wait, or the next one when nobody waits. */
  fire(): void;
  /** Waits until the trigger fires, for this time at most. */
  wait(ms: number): Promise<void>;
};

/** Creates a trigger that resets itself after each wait. Several firings before a wait count as one. */
export function createPollTrigger(): PollTrigger {
  let fired = false;
  let endWait = () => {};

  return {
    fire() {
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
  };
}
