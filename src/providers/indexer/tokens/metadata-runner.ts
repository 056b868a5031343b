import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../log.ts';

/** Fetches metadata in the background, so that indexing never waits for a slow host. */
export type MetadataRunner = {
  start(): void;
  /** Resolves when the fetches in progress have ended. */
  stop(): Promise<void>;
};

type RunnerOptions = {
  readonly chainId: string;
  /** @returns whether there may be more */
  readonly fill: () => Promise<boolean>;
  /** Pause between two polls when nothing is due, in milliseconds. */
  readonly pollMs: number;
  readonly log: Logger;
};

const pauseAfterFailureMs = 30_000;

export function createMetadataRunner({ chainId, fill, pollMs, log }: RunnerOptions): MetadataRunner {
  let present: { readonly end: AbortController; readonly ended: Promise<void> } | undefined;

  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const pauseMs = await fill().then(
        (more) => (more ? 0 : pollMs),
        (err: unknown) => {
          log.warn({ err, chainId }, 'metadata are not fetched for now');
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
