import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../log.ts';

/** Does something beside the indexing, which never waits for it: hosts may be slow, and questions many. */
export type BackgroundRunner = {
  start(): void;
  /** Resolves when what is in progress has ended. */
  stop(): Promise<void>;
};

type RunnerOptions = {
  readonly chainId: string;
  /** @returns whether there may be more */
  readonly fill: () => Promise<boolean>;
  /** Pause between two polls when nothing is due, in milliseconds. */
  readonly pollMs: number;
  readonly log: Logger;
  /** What the log says after a failure. */
  readonly failure: string;
};

const pauseAfterFailureMs = 30_000;

export function createBackgroundRunner(options: RunnerOptions): BackgroundRunner {
  const { chainId, fill, pollMs, log, failure } = options;
  let present: { readonly end: AbortController; readonly ended: Promise<void> } | undefined;

  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const pauseMs = await fill().then(
        (more) => (more ? 0 : pollMs),
        (err: unknown) => {
          log.warn({ err, chainId }, failure);
          return pauseAfterFailureMs;
        },
      );
      await wait(pauseMs, undefined, { signal }).catch(() => {}); // stopped
    }
  };

  return {
    start() {
      const end = new AbortController();
      const before = present?.ended;
      present?.end.abort();
      present = { end, ended: Promise.resolve(before).then(() => run(end.signal)) };
    },
    async stop() {
      present?.end.abort();
      await present?.ended;
    },
  };
}
