import type { Database } from '../../contract/transaction.ts';
import { prepared } from '../../db/prepared.ts';
import { windowSeconds } from '../assets/secret-attempt-store.ts';

/*
 * Tries for NFTs that nobody may claim without their company: unknown ones, and those of RWAs that did not opt in. They
 * are counted and refused as wrong secrets of the others are, in windows of the same length, so that nobody learns
 * which they are; and apart from those, so that strangers cannot lock a company out of its own.
 */

const countSql = `
  INSERT INTO unknown_claims AS u (nft_id, tries, window_ends_at)
  VALUES ($1, 1, clock_timestamp() + interval '${windowSeconds} seconds')
  ON CONFLICT (nft_id) DO UPDATE SET
    tries = CASE WHEN u.window_ends_at > clock_timestamp() THEN least(u.tries + 1, 1000) ELSE 1 END,
    window_ends_at = CASE WHEN u.window_ends_at > clock_timestamp() THEN u.window_ends_at
      ELSE excluded.window_ends_at END
  RETURNING tries, ceil(extract(epoch FROM window_ends_at - clock_timestamp()))::int AS seconds`;

/**
 * Counts a try.
 * @returns how many there were in the present window, this one included, and whole seconds until it ends, at least 1
 */
export async function countUnknownClaim(
  db: Database,
  nftId: string,
): Promise<{ readonly tries: number; readonly secondsLeft: number }> {
  const { rows } = await prepared<{ tries: number; seconds: number }>(db, 'unknown_claim', countSql, [nftId]);
  const [row] = rows;
  if (row === undefined) throw new Error('The try was not counted.');
  return { tries: row.tries, secondsLeft: Math.max(1, row.seconds) };
}

/**
 * Deletes the counts of windows that are over, at most `limit` of them.
 * @returns how many were deleted; fewer than `limit` when none is left
 */
export async function purgeUnknownClaims(db: Database, limit = 1_000): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM unknown_claims WHERE ctid IN (
       SELECT ctid FROM unknown_claims WHERE window_ends_at <= clock_timestamp() LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [limit],
  );
  return rowCount;
}
