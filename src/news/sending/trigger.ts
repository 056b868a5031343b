import { setTimeout as delay } from 'node:timers/promises';

/** Ends waits. Firings before a wait count for it. */
export type Trigger = {
  fire(): void;
  /** Waits until it fires or the signal aborts, for this time at most. */
  wait(ms: number): Promise<void>;
};

export function createTrigger(signal: AbortSignal): Trigger {
  let fired = new AbortController();
  return {
    fire: () => fired.abort(),
    async wait(ms) {
      await delay(ms, undefined, { signal: AbortSignal.any([fired.signal, signal]) }).catch(() => {});
      if (fired.signal.aborted) fired = new AbortController();
    },
  };
}
