import type { Database } from '../../contract/transaction.ts';

/*
 * Table `processes`: a row for each process of the service. The database gives all times, so that differences between
 * the clocks of the processes do not matter.
 */

/** What a process says of itself. */
export type ProcessFacts = {
  /** A UUID, since an earlier container may have had the same host and process id. */
  readonly id: string;
  /** `host:pid`, as leases name it. */
  readonly name: string;
  readonly roles: readonly string[];
  readonly version: string;
  /** Seconds since it was started. */
  readonly uptime: number;
};

export async function saveProcess(db: Database, { roles, ...facts }: ProcessFacts): Promise<void> {
  await db.raw(
    `INSERT INTO processes (id, name, roles, version, started_at)
     VALUES (:id, :name, :roles, :version, clock_timestamp() - make_interval(secs => :uptime))
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
    { ...facts, roles: [...roles] },
  );
}

export async function endProcess(db: Database, id: string): Promise<void> {
  await db.raw('DELETE FROM processes WHERE id = ?', [id]);
}

/** A process as its last heartbeat has left it. */
export type SeenProcess = {
  readonly name: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  /** Whether its last heartbeat is over a minute ago: it was killed, or does not reach the database. */
  readonly isSilent: boolean;
};

/** Lists the processes, those first that have run for longest. */
export async function listProcesses(db: Database): Promise<SeenProcess[]> {
  const { rows } = await db.raw(
    `SELECT name, roles, version, started_at AS "startedAt", seen_at AS "seenAt",
       seen_at < clock_timestamp() - interval '1 minute' AS "isSilent"
     FROM processes ORDER BY started_at, id`,
  );
  return rows;
}
