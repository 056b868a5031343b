import type { Database } from '../../contract/transaction.ts';

/*
 * Table `replica_heartbeats`: a row for each process that reads from a replica, which the process counts up. Clocks play no
 * part, and no position in the log of the server: a database that was promoted, restored or copied has none of the beats
 * that this process makes from then on.
 */

const cluster = '(SELECT system_identifier::text FROM pg_control_system())';

/** Stores a beat. @returns what names the cluster of the database */
export async function storeBeat(db: Database, process: string, beat: number): Promise<string> {
  const { rows }: { rows: { cluster: string }[] } = await db
    .raw(
      `INSERT INTO replica_heartbeats (process, beat) VALUES (?, ?)
       ON CONFLICT (process) DO UPDATE SET beat = excluded.beat, beat_at = excluded.beat_at
       RETURNING ${cluster} AS cluster`,
      [process, beat],
    )
    .timeout(limitMs);
  return rows[0]?.cluster ?? '';
}

/** Deletes the beats of a process that ends, and of processes that ended without. */
export async function endBeats(db: Database, process: string): Promise<void> {
  await db
    .raw(
      "DELETE FROM replica_heartbeats WHERE process = ? OR beat_at < clock_timestamp() - interval '1 day'",
      [process],
    )
    .timeout(limitMs);
}

/** What names a database and what it contains now, for a replica of it. */
export type PrimaryState = { readonly cluster: string; readonly database: string; readonly position: string };

/** Reads where the log of a primary is, which a replica reaches that follows it. */
export async function readOrigin(db: Database): Promise<PrimaryState> {
  const { rows }: { rows: [PrimaryState] } = await db.raw(
    `SELECT ${cluster} AS cluster, current_database() AS database, pg_current_wal_flush_lsn()::text AS position`,
  );
  return rows[0];
}

export type Following = {
  readonly isReplica: boolean;
  readonly cluster: string;
  readonly database: string;
  /** Whether it has everything of its primary up to the position. */
  readonly hasReached: boolean;
};

export async function readFollowing(replica: Database, { position }: PrimaryState): Promise<Following> {
  const { rows }: { rows: [Following] } = await replica
    .raw(
      `SELECT pg_is_in_recovery() AS "isReplica", ${cluster} AS cluster, current_database() AS database,
         coalesce(pg_last_wal_replay_lsn() >= ?::pg_lsn, false) AS "hasReached"`,
      [position],
    )
    .timeout(limitMs);
  return rows[0];
}

export type ReplicaAnswer = {
  /** The newest beat of the process that it has; null while it has none. */
  readonly beat: number | null;
  readonly isReplica: boolean;
  readonly cluster: string;
};

export async function readBeat(replica: Database, process: string): Promise<ReplicaAnswer> {
  const { rows }: { rows: [ReplicaAnswer] } = await replica
    .raw(
      `SELECT (SELECT beat FROM replica_heartbeats WHERE process = ?) AS beat,
         pg_is_in_recovery() AS "isReplica", ${cluster} AS cluster`,
      [process],
    )
    .timeout(limitMs);
  return rows[0];
}

const limitMs = 1_000;

/** The user of a connection to a replica, and the tables that the user may not read there, also missing tables. */
export type Unreadable = { readonly user: string; readonly tables: readonly string[] };

export async function findUnreadable(replica: Database, tables: readonly string[]): Promise<Unreadable> {
  const { rows }: { rows: [Unreadable] } = await replica.raw(
    `SELECT current_user AS user, ARRAY(SELECT t FROM unnest(?::text[]) t
       WHERE has_table_privilege(to_regclass(t), 'SELECT') IS NOT TRUE ORDER BY t) AS tables`,
    [[...tables]],
  );
  return rows[0];
}
