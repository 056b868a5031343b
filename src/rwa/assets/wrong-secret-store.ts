import { createHash } from 'node:crypto';
import { type ProblemError, problem } from '../../base/errors.ts';
import type { Database } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { purgeWhere } from '../../db/records/housekeeping.ts';
import { isSecretForm } from './claim-secret.ts';

/*
 * Table `wrong_secrets`: wrong claim secrets of each caller, for each NFT, in windows of fixed length. They lock nobody
 * out: no statement here runs for the right secret.
 */

/** Wrong secrets of a caller for one NFT within a window. Beyond that number further wrong secrets are rejected. */
const allowedForNft = 5;
/** The same for all NFTs together. A company's server has no such bound: its customers type in what it sends. */
const allowedForAll = { network: 50, key: 2 ** 31 - 1 } as const;
const windowSeconds = 15 * 60;

/** The sender of a secret: a key by its id, or a stranger by the network of the address. */
export type SecretCaller = { readonly kind: 'key' | 'network'; readonly name: string };

// Stands for all NFTs.
const nil = '00000000-0000-0000-0000-000000000000';
const isOpen = 'w.window_ends_at > clock_timestamp()';
const seconds = 'ceil(extract(epoch FROM w.window_ends_at - clock_timestamp()))::int AS seconds';
const counting = `ON CONFLICT (caller, nft_id) DO UPDATE SET
      wrong = CASE WHEN ${isOpen} THEN w.wrong + 1 ELSE 1 END,
      window_ends_at = CASE WHEN ${isOpen} THEN w.window_ends_at ELSE excluded.window_ends_at END
    RETURNING w.wrong, ${seconds}`;
const windowEnd = `clock_timestamp() + interval '${windowSeconds} seconds'`;

// A caller that is over its bound for all NFTs adds no rows, so that ids without end fill no table.
const countSql = `
  WITH for_all AS (
    INSERT INTO wrong_secrets AS w (caller, nft_id, wrong, window_ends_at) VALUES ($1, '${nil}', 1, ${windowEnd})
    ${counting}
  ), for_nft AS (
    INSERT INTO wrong_secrets AS w (caller, nft_id, wrong, window_ends_at)
    SELECT $1, $2::uuid, 1, ${windowEnd} FROM for_all WHERE for_all.wrong <= $3::int
    ${counting}
  )
  SELECT max(seconds) AS seconds FROM (
    SELECT seconds FROM for_all WHERE wrong > $3::int
    UNION ALL SELECT seconds FROM for_nft WHERE wrong > ${allowedForNft}) over`;

type Tried = { readonly nftId: string; readonly secret: string; readonly caller: SecretCaller };

/**
 * Counts a wrong secret, in a commit of its own. A text that cannot be a secret is not counted.
 * @returns `secret_locked` when the caller has sent too many wrong secrets
 */
export async function refuseMoreWrong(
  db: Database,
  { nftId, secret, caller: { kind, name } }: Tried,
): Promise<ProblemError | undefined> {
  if (!isSecretForm(secret)) return undefined;
  // Names are as long as an authentication service makes the ids of its keys.
  const caller = createHash('sha256').update(`${kind} ${name}`).digest();
  const values = [caller, nftId, allowedForAll[kind]];
  const { rows } = await prepared<{ seconds: number | null }>(db, 'wrong_secret', countSql, values);
  const left = rows[0]?.seconds ?? undefined;
  if (left === undefined) return undefined;
  return problem('secret_locked', {}, { headers: { 'Retry-After': String(Math.max(1, left)) } });
}

/** Deletes the counts of windows that are over. */
export const purgeWrongSecrets = purgeWhere('wrong_secrets', 'window_ends_at <= clock_timestamp()');
