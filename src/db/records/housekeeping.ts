import type { Database } from '../../contract/transaction.ts';

const batchSize = 5_000;
// Of one kind in a run, which comes every ten minutes: the next one goes on.
const longestMs = 60_000;

/** Deletes rows of one kind that have had their time, at most `limit` of them. Returns how many; fewer than `limit` when none is left. */
export type Purge = (db: Database, limit: number) => Promise<number>;

/**
 * Returns what deletes rows of a table. Rows that another process has locked are left to it.
 * @param isOver a condition in SQL; with an order where the table has an index for it
 */
export const purgeWhere =
  (table: string, isOver: string): Purge =>
  async (db, limit) => {
    const { rowCount } = await db.raw<{ rowCount: number }>(
      `DELETE FROM ${table} WHERE ctid IN (
         SELECT ctid FROM ${table} WHERE ${isOver} LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [limit],
    );
    return rowCount;
  };

export const purgeExpired = purgeWhere('idempotency_records', 'expires_at <= now() ORDER BY expires_at');

/** Deletes counts of windows that have ended. The library of the rate limiter writes the counts, in milliseconds. */
export const purgeRateLimits = purgeWhere(
  'rate_limits',
  'expire <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint ORDER BY expire',
);

const purgeProcesses = purgeWhere('processes', "seen_at < clock_timestamp() - interval '1 day'");

/**
 * Deletes all rows that have had their time, in batches. Several processes may run it at the same time. A failure of
 * one kind keeps no other.
 * @param more further kinds of rows that have had their time
 * @throws AggregateError of the kinds that failed
 */
export async function purgeExpiredRows(db: Database, more: readonly Purge[] = []): Promise<void> {
  const failures: unknown[] = [];
  for (const purge of [purgeExpired, purgeRateLimits, purgeProcesses, ...more]) {
    await purgeAll(db, purge).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, 'not all that has expired was deleted');
}

async function purgeAll(db: Database, purge: Purge): Promise<void> {
  const began = performance.now();
  while ((await purge(db, batchSize)) === batchSize && performance.now() - began < longestMs);
}
