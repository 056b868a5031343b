import type { Tx } from '../../contract/transaction.ts';

const allowedTries = 5;
const windowMinutes = 15;

/** SQL that is true for an `nfts` row n while its secret may not be tried. */
export const isLockedSql = `EXISTS (SELECT 1 FROM secret_attempts a
  WHERE a.nft_id = n.id AND a.wrong >= ${allowedTries} AND a.window_ends_at > clock_timestamp())`;

/**
 * Counts a wrong secret of an NFT. To be called while its row is locked, so that tries side by side are
 * counted one after the other, and to be committed although the request fails.
 * @returns whether this try was still allowed
 */
export async function countWrongSecret(tx: Tx, nftId: string): Promise<boolean> {
  const { rows }: { rows: { wrong: number }[] } = await tx.raw(
    `INSERT INTO secret_attempts AS a (nft_id, wrong, window_ends_at)
     VALUES (:nftId, 1, clock_timestamp() + interval '${windowMinutes} minutes')
     ON CONFLICT (nft_id) DO UPDATE SET
       wrong = CASE WHEN a.window_ends_at > clock_timestamp() THEN a.wrong + 1 ELSE 1 END,
       window_ends_at = CASE WHEN a.window_ends_at > clock_timestamp() THEN a.window_ends_at
         ELSE excluded.window_ends_at END
     RETURNING wrong`,
    { nftId },
  );
  return (rows[0]?.wrong ?? 0) <= allowedTries;
}

/** Whether the secret may not be tried, as of this moment and not of when the row's lock was asked for. */
export async function isLockedNow(tx: Tx, nftId: string): Promise<boolean> {
  const { rows }: { rows: { locked: boolean }[] } = await tx.raw(
    `SELECT ${isLockedSql} AS locked FROM (SELECT ?::uuid AS id) n`,
    [nftId],
  );
  return rows[0]?.locked === true;
}

/** Whole seconds until the secret of a locked NFT may be tried again; at least 1. */
export async function secondsLocked(tx: Tx, nftId: string): Promise<number> {
  const { rows }: { rows: { seconds: number }[] } = await tx.raw(
    `SELECT ceil(extract(epoch FROM window_ends_at - clock_timestamp()))::int AS seconds
     FROM secret_attempts WHERE nft_id = ?`,
    [nftId],
  );
  return Math.max(1, rows[0]?.seconds ?? 1);
}
