import { randomUUID } from 'node:crypto';
import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';
import { processName } from './lease.ts';
import { endProcess, saveProcess } from './process-store.ts';

export type Heartbeat = {
  /** Ends the heartbeat, and deletes the row of the process. Never rejects. */
  stop(): Promise<void>;
};

type HeartbeatOptions = {
  readonly db: Database;
  readonly log: Logger;
  readonly roles: readonly string[];
  readonly version: string;
  /** Between two beats; 15,000 by default. */
  readonly pauseMs?: number;
};

/** Stores now, and every 15 s from now on, that this process is there. A beat that fails keeps nothing else. */
export function beginHeartbeat({ db, log, roles, version, pauseMs = 15_000 }: HeartbeatOptions): Heartbeat {
  const id = randomUUID();
  let isFailing = false;
  const beat = async () => {
    try {
      await saveProcess(db, { id, name: processName(), roles, version, uptime: process.uptime() });
      isFailing = false;
    } catch (err) {
      if (!isFailing) log.warn({ err }, 'heartbeat not stored');
      isFailing = true;
    }
  };
  let last = beat();
  const timer = setInterval(() => {
    last = last.then(beat);
  }, pauseMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await last;
      // Without a database the row stays, and counts as silent.
      await endProcess(db, id).catch(() => {});
    },
  };
}
