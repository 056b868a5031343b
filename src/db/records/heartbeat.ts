import { randomUUID } from 'node:crypto';
import { inTime } from '../../base/in-time.ts';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../../contract/transaction.ts';
import { isOutage } from '../connection/outage.ts';
import { processName } from '../leases/lease.ts';
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

// A stop waits no longer for a database that does not answer. The row stays then, and counts as silent.
const endMs = 2_000;

/** Stores now, and every 15 s from now on, that this process is there. A beat that fails keeps nothing else. */
export function beginHeartbeat({ db, log, roles, version, pauseMs = 15_000 }: HeartbeatOptions): Heartbeat {
  const id = randomUUID();
  let isFailing = false;
  let beating: Promise<void> | undefined;
  const store = async () => {
    try {
      await saveProcess(db, { id, name: processName(), roles, version, uptime: process.uptime() });
      isFailing = false;
    } catch (err) {
      // An outage of the database is logged where it is met first.
      if (!isFailing && !isOutage(err)) log.warn({ err }, 'heartbeat not stored');
      isFailing = true;
    }
  };
  const beat = () => {
    beating ??= store().finally(() => {
      beating = undefined;
    });
  };
  beat();
  const timer = setInterval(beat, pauseMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      const end = async () => {
        await beating;
        await endProcess(db, id);
      };
      await inTime(end(), endMs, 'the database does not answer').catch(() => {});
    },
  };
}
