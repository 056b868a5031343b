import type { Database } from '../../contract/transaction.ts';
import { prepared } from '../../db/prepared.ts';
import { allowedAttempts, windowSeconds } from '../assets/secret-attempt-store.ts';

/*
 * Tries for NFTs that nobody may claim without their company: unknown ones, and those of RWAs that did not opt in. They
 * are counted and refused as wrong secrets of the others are, in windows of the same length, so that nobody learns
 * which they are; and apart from those, so that strangers cannot lock a company out of its own.
 */

const secondsLeft = 'ceil(extract(epoch FROM window_ends_at - clock_timestamp()))::int AS seconds';

// As of an NFT whose secrets were tried too often, nothing is written then: the time of an answer tells of neither.
const lockedSql = `
  SELECT tries, ${secondsLeft} FROM unknown_claims
  WHERE nft_id = $1 AND tries > ${allowedAttempts} AND window_ends_at > clock_timestamp()`;

const countSql = `
  INSERT INTO unknown_claims AS u (nft_id, tries, window_ends_at)
  VALUES ($1, 1, clock_timestamp() + interval '${windowSeconds} seconds')
  ON CONFLICT (nft_id) DO UPDATE SET
    tries = CASE WHEN u.window_ends_at > clock_timestamp() THEN least(u.tries + 1, 1000) ELSE 1 END,
    window_ends_at = CASE WHEN u.window_ends_at > clock_timestamp() THEN u.window_ends_at
      ELSE excluded.window_ends_at END
  RETURNING tries, ${secondsLeft}`;

type Count = { readonly tries: number; readonly seconds: number };

/**
 * Counts a try, unless there were more than are allowed.
 * @returns how many were counted in the present window, and whole seconds until it ends, at least 1
 */
export async function countUnknownClaim(
  db: Database,
  nftId: string,
): Promise<{ readonly tries: number; readonly secondsLeft: number }> {
  const locked = await prepared<Count>(db, 'locked_unknown_claim', lockedSql, [nftId]);
  const { rows } =
    locked.rows.length > 0 ? locked : await prepared<Count>(db, 'unknown_claim', countSql, [nftId]);
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
