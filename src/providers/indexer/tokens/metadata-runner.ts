import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../log.ts';

/** Fetches metadata beside the indexing, which never waits for a slow host. */
export type MetadataRunner = {
  start(): void;
  /** Resolves when what is being fetched has ended. */
  stop(): Promise<void>;
};

type RunnerOptions = {
  readonly chainId: string;
  /** @returns whether there may be more */
  readonly fill: () => Promise<boolean>;
  /** Between two looks when there is nothing to fetch. */
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
      await wait(pauseMs, undefined, { signal }).catch(() => {}); // told to end
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
