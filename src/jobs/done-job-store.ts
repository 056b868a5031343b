import type { Database } from '../contract/transaction.ts';

/**
 * Deletes jobs that have been done for two hours, at most `limit` of them. pg-boss does so after one, by a statement for all of
 * them, which does not end in its time where they have become millions.
 * @returns the number of deleted rows; less than `limit` when none is left
 */
export async function purgeDoneJobs(db: Database, limit = 1_000): Promise<number> {
  // By the key: the table has parts, in which rows have the same places.
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM pgboss.job j USING (
       SELECT name, id FROM pgboss.job WHERE completed_on < now() - interval '2 hours' LIMIT ? FOR UPDATE SKIP LOCKED) done
     WHERE j.name = done.name AND j.id = done.id`,
    [limit],
  );
  return rowCount;
}
