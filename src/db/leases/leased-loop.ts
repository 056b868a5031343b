import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../../contract/transaction.ts';
import { withLease } from './lease.ts';

/** Work that one process of all does at a time. */
export type LeasedLoop = {
  readonly name: string;
  /** Ends the work, and gives it to another process. Never rejects. */
  stop(): Promise<void>;
};

type LoopOptions = {
  readonly db: Database;
  readonly log: Logger;
  readonly name: string;
  /** Works until the signal aborts. What it throws is logged, and it is called again. */
  readonly run: (signal: AbortSignal) => Promise<void>;
};

const pauseMs = 1_000;

/** Starts work under a lease, and goes on for as long as the process runs. */
export function startLeasedLoop({ db, log, name, run }: LoopOptions): LeasedLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const all = async () => {
    while (!signal.aborted) {
      try {
        await withLease({ db, name, log, signal }, run);
      } catch (err) {
        if (signal.aborted) return;
        log.warn({ err, loop: name }, 'the work failed, and begins again');
        await wait(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  };
  const done = all();
  return {
    name,
    stop() {
      stopping.abort();
      return done;
    },
  };
}
