import type { Database } from '../contract/transaction.ts';

/**
 * Deletes jobs that have been done for two hours, at most `limit` of them. pg-boss does so after one hour, by a single
 * statement, which does not end in its time for millions of jobs.
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

// Each statement has the name as a value. With the name of the outer row the planner takes all queues for alike, and
// reads the whole table, where another queue has millions.
const lastDone = `
  SELECT q.name AS queue, greatest(0, extract(epoch FROM now() - coalesce(
    (SELECT max(completed_on) FROM pgboss.job WHERE name = ? AND state = 'completed'), q.created_on)))::float8 AS seconds
  FROM pgboss.queue q WHERE q.name = ?`;

/**
 * How long ago the last job of each queue was done. Of a queue whose done jobs have all been deleted, or that never had one, how
 * long ago it was made: a job that never begins is reported like a job that always fails.
 */
export async function listLastDone(
  db: Database,
  queues: readonly string[],
): Promise<{ readonly queue: string; readonly seconds: number }[]> {
  if (queues.length === 0) return [];
  const { rows } = await db.raw(
    queues.map(() => lastDone).join(' UNION ALL '),
    queues.flatMap((queue) => [queue, queue]),
  );
  return rows;
}
