import type { ClientBase } from 'pg';
import type { Database } from '../contract/transaction.ts';

/*
 * Table `replica_heartbeats`: a row for each process that reads from a replica, which the process counts up. Clocks play no
 * part, and no position in the log of the server: a database that was promoted, restored or copied has none of the beats
 * that this process makes from then on.
 */

const cluster = '(SELECT system_identifier::text FROM pg_control_system())';

/** Stores a beat. @returns what names the cluster of the database */
export async function storeBeat(db: Database, process: string, beat: number): Promise<string> {
  const { rows }: { rows: { cluster: string }[] } = await db.raw(
    `INSERT INTO replica_heartbeats (process, beat) VALUES (?, ?)
     ON CONFLICT (process) DO UPDATE SET beat = excluded.beat, beat_at = excluded.beat_at
     RETURNING ${cluster} AS cluster`,
    [process, beat],
  );
  return rows[0]?.cluster ?? '';
}

/** Deletes the beats of a process that ends, and of those that ended without. */
export async function endBeats(db: Database, process: string): Promise<void> {
  await db.raw(
    "DELETE FROM replica_heartbeats WHERE process = ? OR beat_at < clock_timestamp() - interval '1 day'",
    [process],
  );
}

/** What a server says of itself. */
export type ReplicaAnswer = {
  /** The newest beat of the process that it has; undefined while it has none. */
  readonly beat: number | undefined;
  readonly isReplica: boolean;
  readonly cluster: string;
};

export async function readBeat(connection: ClientBase, process: string): Promise<ReplicaAnswer> {
  const { rows } = await connection.query<{ beat: number | null; is_replica: boolean; cluster: string }>(
    `SELECT (SELECT beat FROM replica_heartbeats WHERE process = $1) AS beat, pg_is_in_recovery() AS is_replica,
       ${cluster} AS cluster`,
    [process],
  );
  const [row] = rows;
  return { beat: row?.beat ?? undefined, isReplica: row?.is_replica ?? false, cluster: row?.cluster ?? '' };
}

/** What a replica is to whoever looks at it, and which tables that user may not read there. */
export type ReplicaView = Pick<ReplicaAnswer, 'isReplica' | 'cluster'> & {
  readonly user: string;
  /** Those that are missing, too. */
  readonly unreadable: readonly string[];
};

export async function viewReplica(replica: Database, tables: readonly string[]): Promise<ReplicaView> {
  const { rows }: { rows: { is_replica: boolean; cluster: string; name: string; unreadable: string[] }[] } =
    await replica.raw(
      `SELECT pg_is_in_recovery() AS is_replica, ${cluster} AS cluster, current_user AS name,
         ARRAY(SELECT t FROM unnest(?::text[]) t
           WHERE has_table_privilege(to_regclass(t), 'SELECT') IS NOT TRUE ORDER BY t) AS unreadable`,
      [[...tables]],
    );
  const [row] = rows;
  if (row === undefined) throw new Error('The replica says nothing of itself.');
  return { isReplica: row.is_replica, cluster: row.cluster, user: row.name, unreadable: row.unreadable };
}

/** Whether a replica has a beat, or a later one. */
export async function hasBeat(replica: Database, process: string, beat: number): Promise<boolean> {
  const { rows }: { rows: unknown[] } = await replica.raw(
    'SELECT 1 FROM replica_heartbeats WHERE process = ? AND beat >= ?',
    [process, beat],
  );
  return rows.length > 0;
}
