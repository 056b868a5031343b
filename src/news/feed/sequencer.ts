import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../../contract/transaction.ts';
import { type LeasedLoop, startLeasedLoop } from '../../db/leases/leased-loop.ts';
import { numberNews } from './sequencer-store.ts';

// Each poll of an idle service is a transaction, however cheap. Where there was news, more is likely.
const [busyMs, idleMs] = [50, 400];
const busyFor = 10_000;
const batchSize = 1_000;

/** Numbers news as they commit, until the signal aborts. */
export async function numberAsTheyCome(db: Database, signal: AbortSignal): Promise<void> {
  let lastNews = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    const count = await numberNews(db, batchSize);
    if (count > 0) lastNews = performance.now();
    if (count === batchSize) continue;
    const isBusy = performance.now() - lastNews < busyFor;
    await wait(isBusy ? busyMs : idleMs, undefined, { signal }).catch(() => {});
  }
}

/** Starts the sequencer: one process of all numbers news. */
export const startSequencer = ({ db, log }: { readonly db: Database; readonly log: Logger }): LeasedLoop =>
  startLeasedLoop({ db, log, name: 'news sequencer', run: (signal) => numberAsTheyCome(db, signal) });
