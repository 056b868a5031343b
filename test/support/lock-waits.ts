import type { Knex } from 'knex';

/** Counts the statements that wait for a lock in this database. */
export async function countLockWaits(db: Knex): Promise<number> {
  const waits = db('pg_stat_activity').where({ wait_event_type: 'Lock' });
  return (await waits.whereRaw('datname = current_database()')).length;
}
