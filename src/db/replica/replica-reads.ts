import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { inTime, untilAborted } from '../../base/in-time.ts';
import type { Logger } from '../../base/log.ts';
import { currentScope, throwIfEnded, withEnd } from '../../base/request-scope.ts';
import type { Database } from '../../contract/transaction.ts';
import { endBeats, type ReplicaAnswer, readBeat, storeBeat } from './replica-store.ts';

/**
 * Runs reads whose answer may be some seconds old: at the replica while there is one that is well, else at the primary.
 * They are run again at the primary when the replica fails, so they must change nothing. So they are when the answer is
 * undefined: what a replica does not have may be new.
 */
export type MayLag = <T>(read: (db: Database) => Promise<T>) => Promise<T>;

/** Where there is no replica. */
export const atPrimary =
  (db: Database): MayLag =>
  (read) =>
    read(db);

export type ReplicaReads = {
  readonly mayLag: MayLag;
  isUsed(): boolean;
  close(): Promise<void>;
};

type Options = {
  readonly db: Database;
  readonly maxLagMs: number;
  /** Opens a pool of connections to the replica, of the usual size by default. */
  readonly openPool: (poolMax?: number) => Database;
  readonly log: Logger;
  /** Called with where a read was answered. */
  readonly onRead: (at: 'replica' | 'primary') => void;
};

const lookMs = 1_000;
const limitMs = 1_000;
// The primary answers what takes longer, whether the replica is busy, frozen or out of reach.
const mostReadMs = 3_000;

/**
 * Reads from a replica as long as it is proved to be no further behind than `maxLagMs`. Each second a beat is stored in the
 * database, and the replica asked for the newest beat that it has: everything that was committed before that beat was sent
 * is there. The proof ends by itself, so whatever keeps this process from checking also ends the use.
 */
export function createReplicaReads({ db, maxLagMs, openPool, log, onRead }: Options): ReplicaReads {
  let pool = openPool();
  // The pool may be full of long statements.
  const watching = openPool(1);
  const name = randomUUID();
  const sent = new Map<number, number>();
  let newest = 0;
  let cluster: string | undefined;
  let asOf = Number.NEGATIVE_INFINITY;
  let fault: string | undefined;
  const isOld = `it has shown no heartbeat of the last ${maxLagMs / 1_000} s`;
  let told: string | undefined = isOld;

  const isUsed = () => fault === undefined && performance.now() < asOf + maxLagMs;

  const faultOf = (shown: ReplicaAnswer): string | undefined => {
    if (!shown.isReplica) return 'it is no replica';
    if (shown.cluster !== cluster) return 'it belongs to another cluster';
    asOf = sent.get(shown.beat ?? 0) ?? asOf;
    return undefined;
  };

  // The pool is replaced, so that the reads do not try its lost connections one by one.
  const faultOfSilence = (error: unknown): string => {
    if (fault === undefined) {
      void pool.destroy().catch(() => {});
      pool = openPool();
    }
    return String(error);
  };

  const look = async () => {
    newest += 1;
    sent.set(newest, performance.now());
    for (const [beat, at] of sent) if (at < performance.now() - maxLagMs) sent.delete(beat);
    // Without a beat, the content of the replica still shows its age.
    cluster = await inTime(storeBeat(db, name, newest), limitMs).catch(() => cluster);
    fault = await inTime(readBeat(watching, name), limitMs).then(faultOf, faultOfSilence);
    const reason = isUsed() ? undefined : (fault ?? isOld);
    if (reason === told) return;
    told = reason;
    if (reason === undefined) log.info('replica of the database is read from');
    else log.warn({ reason }, 'replica of the database is not read from, the primary is');
  };

  const stopping = new AbortController();
  const looking = repeat(look, stopping.signal);
  return {
    isUsed,
    async mayLag(read) {
      if (isUsed()) {
        const end = AbortSignal.timeout(mostReadMs);
        try {
          const answer = await untilAborted(
            withEnd(end, () => read(pool)),
            end,
          );
          if (answer !== undefined) {
            onRead('replica');
            return answer;
          }
        } catch (error) {
          const scope = currentScope();
          if (scope !== undefined) throwIfEnded(scope);
          log.debug({ err: error }, 'read of the replica failed, and is put to the primary');
        }
      }
      onRead('primary');
      return read(db);
    },
    async close() {
      stopping.abort();
      await looking;
      // The next process that ends deletes beats that stay. A server that is gone ends no connection.
      await Promise.allSettled([inTime(endBeats(db, name), limitMs), watching.destroy(), pool.destroy()]);
    },
  };
}

/** Repeats work that never rejects, with a rest after each time, until the signal aborts. */
async function repeat(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work();
    await wait(lookMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
