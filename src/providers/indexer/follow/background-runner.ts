import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../base/log.ts';

/** Runs work next to the index. The index never waits for it, because hosts may be slow and questions many. */
export type BackgroundRunner = {
  start(): void;
  /** Ends the pause: there may be something to do. */
  wake(): void;
  /** Resolves when what is in progress has ended. */
  stop(): Promise<void>;
};

type RunnerOptions = {
  readonly chainId: string;
  /** Ends early when the signal aborts. @returns whether there may be more */
  readonly fill: (signal: AbortSignal) => Promise<boolean>;
  /** Pause between two polls when nothing is due and nobody wakes it, in milliseconds. */
  readonly restMs: number;
  readonly log: Logger;
  /** The text of the log after a failure. */
  readonly failure: string;
};

const pauseAfterFailureMs = 5_000;

export function createBackgroundRunner(options: RunnerOptions): BackgroundRunner {
  const { chainId, fill, restMs, log, failure } = options;
  let present: { readonly end: AbortController; readonly ended: Promise<void> } | undefined;
  let alarm = new AbortController();

  /** @returns a pause, and what ends it early */
  const fillOnce = async (signal: AbortSignal) => {
    alarm = new AbortController();
    try {
      const ms = (await fill(signal)) ? 0 : restMs;
      return { ms, end: AbortSignal.any([signal, alarm.signal]) };
    } catch (err) {
      log.warn({ err, chainId }, failure);
      return { ms: pauseAfterFailureMs, end: signal };
    }
  };

  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const { ms, end } = await fillOnce(signal);
      await wait(ms, undefined, { signal: end }).catch(() => {}); // stopped, or woken
    }
  };

  return {
    start() {
      const end = new AbortController();
      const before = present?.ended;
      present?.end.abort();
      present = { end, ended: Promise.resolve(before).then(() => run(end.signal)) };
    },
    wake: () => alarm.abort(),
    async stop() {
      present?.end.abort();
      await present?.ended;
    },
  };
}
