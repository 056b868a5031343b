import { randomBytes } from 'node:crypto';
import type { Database, Tx } from '../../contract/transaction.ts';
import { purgeWhere } from '../../db/records/housekeeping.ts';

/** What a wallet is asked to sign. */
export type Challenge = {
  readonly nonce: string;
  readonly eventId: string;
  /** EIP-55. */
  readonly wallet: string;
  /** Decimal. */
  readonly chainId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
};

const table = 'event_challenges';
const columns =
  'nonce, event_id AS "eventId", wallet, chain_id AS "chainId", issued_at AS "issuedAt", expires_at AS "expiresAt"';

type Of = Pick<Challenge, 'eventId' | 'wallet' | 'chainId'> & { readonly companyId: string };

/** Inserts a challenge that is good for five minutes. */
export async function insertChallenge(
  db: Database,
  { companyId, eventId, wallet, chainId }: Of,
): Promise<Challenge> {
  const { rows }: { rows: Challenge[] } = await db.raw(
    `INSERT INTO ${table} (nonce, company_id, event_id, wallet, chain_id, issued_at, expires_at)
     SELECT :nonce, :companyId, :eventId, :wallet, :chainId, now, now + interval '5 minutes'
     FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS now) AS t RETURNING ${columns}`,
    { nonce: randomBytes(16).toString('hex'), companyId, eventId, wallet, chainId },
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the challenge was not inserted');
  return row;
}

/** Finds a challenge of a company, and whether it has expired; undefined when there is none, or it was used. */
export async function findChallenge(
  db: Database,
  companyId: string,
  nonce: string,
): Promise<(Challenge & { readonly isExpired: boolean }) | undefined> {
  const { rows } = await db.raw(
    `SELECT ${columns}, expires_at <= clock_timestamp() AS "isExpired" FROM ${table} WHERE company_id = ? AND nonce = ?`,
    [companyId, nonce],
  );
  return rows[0];
}

/**
 * Uses a challenge up.
 * @returns false when it was used, or has expired
 */
export async function consumeChallenge(tx: Tx, companyId: string, nonce: string): Promise<boolean> {
  const deleted: number = await tx(table)
    .where({ company_id: companyId, nonce })
    .where('expires_at', '>', tx.raw('clock_timestamp()'))
    .delete();
  return deleted > 0;
}

/** Deletes challenges that expired an hour ago. */
export const purgeChallenges = purgeWhere(
  table,
  "expires_at < clock_timestamp() - interval '1 hour' ORDER BY expires_at",
);
