import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';
import { hasUnsettled, settleCounts } from './list-splits-store.ts';
import { codeOf, isOutage } from './outage.ts';

export type CountsKeeper = {
  /** Ends after the transaction that is under way. */
  stop(): Promise<void>;
};

type Options = {
  readonly db: Database;
  readonly log: Logger;
  /** How long it rests when there was nothing to fold. */
  readonly restMs?: number;
  /** How long when there was: at 2,000 events a second, half a second leaves 2,000 changes, which a total adds up in 0.2 ms. */
  readonly busyRestMs?: number;
};

// Of connections the pool tells. That a statement took too long, or that the disk is full, nobody else does.
const isOfStatement = (error: unknown) => error instanceof Error && /^(57014|53...)$/.test(codeOf(error));

/**
 * Folds what writers append to the counters of lists, again and again, so that what readers have to add up is what was written in
 * some seconds, however long nobody reads. Several processes may do so: all but one find nothing to do.
 */
export function keepCounts({ db, log, restMs = 5_000, busyRestMs = 500 }: Options): CountsKeeper {
  const stopping = new AbortController();
  const { signal } = stopping;
  const settle = async (): Promise<boolean> => {
    try {
      if (!(await hasUnsettled(db))) return false;
      await settleCounts(db, signal);
      return true;
    } catch (error) {
      if (!isOutage(error) || isOfStatement(error))
        log.error({ err: error }, 'the counters of lists were not folded');
      return false;
    }
  };
  const keeping = (async () => {
    while (!signal.aborted) {
      const isBusy = await settle();
      await delay(isBusy ? Math.min(busyRestMs, restMs) : restMs, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    stop() {
      stopping.abort();
      return keeping;
    },
  };
}
