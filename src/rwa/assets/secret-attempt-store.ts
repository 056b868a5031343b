import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/prepared.ts';

/*
 * Wrong secrets, counted for each NFT in windows of fixed length. The rows of the NFTs must be locked: then attempts
 * on the same NFT are serialised, and the values read stay true until the transaction ends.
 */

/** Wrong secrets within a window after which no secret may be tried until it ends. */
export const allowedAttempts = 5;
export const windowSeconds = 15 * 60;

export type SecretAttempts = {
  /** Wrong secrets in the present window. */
  readonly wrong: number;
  /** Whole seconds until the window ends, at least 1. A window begins with the first wrong secret. */
  readonly secondsLeft: number;
};

export const noAttempts: SecretAttempts = { wrong: 0, secondsLeft: windowSeconds };

/** The attempts on NFTs of the company in windows that are open now, by the id of the NFT in lower case. */
export async function findSecretAttempts(
  tx: Tx,
  companyId: string,
  nftIds: readonly string[],
): Promise<ReadonlyMap<string, SecretAttempts>> {
  if (nftIds.length === 0) return new Map();
  const { rows } = await prepared<{ id: string; wrong: number; seconds: number }>(
    tx,
    'secret_attempts',
    `SELECT a.nft_id AS id, a.wrong, ceil(extract(epoch FROM a.window_ends_at - clock_timestamp()))::int AS seconds
     FROM secret_attempts a JOIN nfts n ON n.id = a.nft_id
     WHERE n.company_id || '' = $1 AND a.nft_id = ANY ($2::uuid[]) AND a.window_ends_at > clock_timestamp()`,
    [companyId, nftIds],
  );
  return new Map(rows.map(({ id, wrong, seconds }) => [id, { wrong, secondsLeft: Math.max(1, seconds) }]));
}

/**
 * Counts wrong secrets. The count must be committed although the requests are refused.
 * @param counts how many to add, by the id of the NFT
 */
export async function countWrongSecrets(tx: Tx, counts: ReadonlyMap<string, number>): Promise<void> {
  if (counts.size === 0) return;
  await tx.raw(
    `INSERT INTO secret_attempts AS a (nft_id, wrong, window_ends_at)
     SELECT id, wrong, clock_timestamp() + interval '${windowSeconds} seconds'
     FROM unnest(:nftIds::uuid[], :counts::int[]) AS w (id, wrong)
     ON CONFLICT (nft_id) DO UPDATE SET
       wrong = excluded.wrong + CASE WHEN a.window_ends_at > clock_timestamp() THEN a.wrong ELSE 0 END,
       window_ends_at = CASE WHEN a.window_ends_at > clock_timestamp() THEN a.window_ends_at
         ELSE excluded.window_ends_at END`,
    { nftIds: [...counts.keys()], counts: [...counts.values()] },
  );
}

/** Allows all attempts again, after the secret of the NFT was replaced. */
export async function deleteSecretAttempts(tx: Tx, nftId: string): Promise<void> {
  await tx('secret_attempts').where({ nft_id: nftId }).delete();
}

/**
 * Deletes the counts of windows that are over, at most `limit` of them.
 * @returns how many were deleted; fewer than `limit` when none is left
 */
export async function purgeSecretAttempts(db: Database, limit = 1_000): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM secret_attempts WHERE ctid IN (
       SELECT ctid FROM secret_attempts WHERE window_ends_at <= clock_timestamp() LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [limit],
  );
  return rowCount;
}
