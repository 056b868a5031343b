import type { Knex } from 'knex';

const table = 'rate_limits';

/**
 * Deletes the counts of windows that have ended, at most `limit` of them. The counting itself is done by the
 * limiting library.
 * @returns how many were deleted; fewer than `limit` when none is left
 */
export async function purgeRateLimits(db: Knex, limit = 1_000): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM ${table} WHERE ctid IN (
       SELECT ctid FROM ${table} WHERE expire <= ? ORDER BY expire LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [Date.now(), limit],
  );
  return rowCount;
}
