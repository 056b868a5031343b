import type { Database } from '../contract/transaction.ts';

export type QueueLevel = {
  readonly queue: string;
  /** Jobs that wait, or will be tried again; 100,000 for so many and more. */
  readonly waiting: number;
  /** Jobs that a worker is at; the same. */
  readonly active: number;
  /** Since when the job that waits for the longest has been due; null when no job waits. */
  readonly oldestDue: Date | null;
};

const mostCounted = 100_000;

// The name is a value, as in `done-job-store.ts`. A job in state `active` or before it is not done.
const level = `
  SELECT :queue AS queue,
    (SELECT count(*)::int FROM (SELECT FROM pgboss.job WHERE name = :queue AND state < 'active' LIMIT :most) w) AS waiting,
    (SELECT count(*)::int FROM (SELECT FROM pgboss.job WHERE name = :queue AND state = 'active' LIMIT :most) a) AS active,
    (SELECT min(start_after) FROM pgboss.job WHERE name = :queue AND state < 'active' AND start_after <= now()) AS "oldestDue"`;

/** Counts the jobs of every queue of ours as they are now, whether a worker runs or not. */
export async function listQueueLevels(db: Database): Promise<QueueLevel[]> {
  const { rows: queues }: { rows: { name: string }[] } = await db.raw(
    // pg-boss has queues of its own.
    `SELECT name FROM pgboss.queue WHERE name NOT LIKE '\\_\\_pgboss\\_\\_%' ORDER BY name`,
  );
  const levels: QueueLevel[] = [];
  for (const { name } of queues) {
    const { rows } = await db.raw(level, { queue: name, most: mostCounted });
    levels.push(...rows);
  }
  return levels;
}
