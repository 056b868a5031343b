import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../../contract/transaction.ts';
import { type LeasedLoop, startLeasedLoop } from './leased-loop.ts';
import { numberNews } from './sequencer-store.ts';

// A look at an index that is empty costs a tenth of a millisecond.
const pollMs = 100;
const batchSize = 1_000;

/** Numbers news as they commit, until the signal aborts. */
export async function numberAsTheyCome(db: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const count = await numberNews(db, batchSize);
    if (count < batchSize) await wait(pollMs, undefined, { signal }).catch(() => {});
  }
}

/** Starts the sequencer: one process of all numbers news. */
export const startSequencer = ({ db, log }: { readonly db: Database; readonly log: Logger }): LeasedLoop =>
  startLeasedLoop({ db, log, name: 'news sequencer', run: (signal) => numberAsTheyCome(db, signal) });
