import type { Database } from '../contract/transaction.ts';
import { untilAborted } from '../in-time.ts';
import type { Logger } from '../log.ts';
import { currentScope } from '../request-scope.ts';
import { codeOf, isOutage } from './outage.ts';
import { ReplicaLostError, type ReplicaWatch, watchReplica } from './replica-watch.ts';

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

/** Where a read was answered: by the replica, by the primary, or by the primary after the replica had failed. */
export type ReadAt = 'replica' | 'primary' | 'again';

export type ReplicaReads = Pick<ReplicaWatch, 'state' | 'lagMs'> & {
  readonly mayLag: MayLag;
  close(): Promise<void>;
};

type Options = {
  readonly db: Database;
  readonly url: string;
  readonly maxLagMs: number;
  /** Opens a pool of connections to the replica. */
  readonly openPool: () => Database;
  readonly log: Logger;
  readonly onRead: (at: ReadAt) => void;
};

export function createReplicaReads({ db, url, maxLagMs, openPool, log, onRead }: Options): ReplicaReads {
  const closing = new Set<Promise<void>>();
  let pool = openPool();
  // Connections that give no answer keep their statements for seconds; those of a new pool are as good as the replica.
  const replacePool = () => {
    const closed = closeQuietly(pool).finally(() => closing.delete(closed));
    closing.add(closed);
    pool = openPool();
  };
  const watch = watchReplica({ db, url, maxLagMs, log, onSilent: replacePool });
  return {
    state: watch.state,
    lagMs: watch.lagMs,
    async mayLag(read) {
      const silence = watch.use();
      if (silence === undefined) {
        onRead('primary');
        return read(db);
      }
      try {
        const answer = await untilAborted(read(pool), silence);
        if (answer !== undefined) {
          onRead('replica');
          return answer;
        }
      } catch (error) {
        if (!isOfServer(error) || currentScope()?.signal.aborted === true) throw error;
        log.debug({ err: error }, 'read of the replica failed, and is put to the primary');
        onRead('again');
        return read(db);
      }
      onRead('primary');
      return read(db);
    },
    async close() {
      await watch.stop();
      await Promise.all([...closing, closeQuietly(pool)]);
    },
  };
}

// Of a server that is gone, that cannot be told.
const closeQuietly = (pool: Database): Promise<void> => pool.destroy().catch(() => {});

/**
 * Whether the server, or the way to it, is the reason: recovery conflicts (40001, 57014), a replica that ends or is not as far
 * as a migration. A statement that is wrong fails at the primary as well, and is told from there.
 */
function isOfServer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof ReplicaLostError || isOutage(error) || /^[0-9A-Z]{5}$/.test(codeOf(error));
}
