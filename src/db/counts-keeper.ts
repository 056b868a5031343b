import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';
import { hasUnsettled, settleCounts } from './list-splits-store.ts';
import { isOutage } from './outage.ts';

export type CountsKeeper = {
  /** Ends after the transaction that is under way. */
  stop(): Promise<void>;
};

type Options = {
  readonly db: Database;
  readonly log: Logger;
  /** How long it rests. At 2,000 events a second, 5 s leave 20,000 changes, which a total adds up in some 3 ms. */
  readonly restMs?: number;
};

/**
 * Folds what writers append to the counters of lists, again and again, so that what readers have to add up is what was written in
 * some seconds, however long nobody reads. Several processes may do so: all but one find nothing to do.
 */
export function keepCounts({ db, log, restMs = 5_000 }: Options): CountsKeeper {
  const stopping = new AbortController();
  const { signal } = stopping;
  const settle = async () => {
    try {
      if (await hasUnsettled(db)) await settleCounts(db, signal);
    } catch (error) {
      // Of an outage the pool tells.
      if (!isOutage(error)) log.error({ err: error }, 'the counters of lists were not folded');
    }
  };
  const keeping = (async () => {
    while (!signal.aborted) {
      await settle();
      await delay(restMs, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    stop() {
      stopping.abort();
      return keeping;
    },
  };
}
