import type { Database } from '../../contract/transaction.ts';

const table = 'rate_limits';

/**
 * Deletes the counts of windows that have ended, at most `limit` of them. The rate limiter's library writes the
 * counts itself.
 * @returns the number of deleted rows; less than `limit` when no expired row is left
 */
export async function purgeRateLimits(db: Database, limit = 1_000): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM ${table} WHERE ctid IN (
       SELECT ctid FROM ${table} WHERE expire <= ? ORDER BY expire LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [Date.now(), limit],
  );
  return rowCount;
}
