import type { Database } from '../../../contract/transaction.ts';

/** Whether a transaction of this hash is an attempt that this deployment has signed and stored. */
export async function isOwnAttempt(db: Database, hash: string): Promise<boolean> {
  return (await db('mint_attempts').where({ hash: hash.toLowerCase() }).first('hash')) !== undefined;
}
