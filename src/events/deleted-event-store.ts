import type { Database } from '../contract/transaction.ts';

/**
 * Deletes attendees of deleted events that had too many to go with their event, at most `limit` of them.
 * @returns the number of deleted attendees; less than `limit` when none is left
 */
export async function purgeAttendees(db: Database, limit = 1_000): Promise<number> {
  // A function of the database (migration 0027): a worker has no right to attendees.
  const { rows } = await db.raw<{ rows: [{ count: number }] }>('SELECT purge_attendees(?) AS count', [limit]);
  return rows[0].count;
}
