import { setTimeout as delay } from 'node:timers/promises';

/** Ends waits. Firings before a wait count for it, as one. */
export type Trigger = {
  fire(): void;
  /** Waits until it fires or the signal aborts, for this time at most. */
  wait(ms: number): Promise<void>;
};

export function createTrigger(signal: AbortSignal): Trigger {
  let fired = new AbortController();
  const fire = () => fired.abort();
  signal.addEventListener('abort', fire, { once: true });
  return {
    fire,
    async wait(ms) {
      if (signal.aborted) return;
      await delay(ms, undefined, { signal: fired.signal }).catch(() => {});
      if (fired.signal.aborted && !signal.aborted) fired = new AbortController();
    },
  };
}
