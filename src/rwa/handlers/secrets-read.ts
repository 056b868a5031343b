import type { CallerContext } from '../../contract/operation.ts';
import { hasScope } from '../../contract/scopes.ts';
import type { Database } from '../../contract/transaction.ts';
import { recordByKey } from '../../db/records/audit-store.ts';

export const secretsReadAction = 'nft.secrets_read';

export type Reader = Pick<CallerContext, 'caller' | 'origin'> & { readonly companyId: string };

/** Whether answers show claim secrets to the key. Dispatch hides them from the others, as the document says. */
export const seesSecrets = ({ caller }: Pick<Reader, 'caller'>): boolean => hasScope(caller, 'secrets:read');

/**
 * Stores which claim secrets an answer shows to the key, before the answer goes out.
 * @param subject the NFT, or the RWA whose NFTs they are; null for NFTs of all RWAs
 * @param nfts in the order of the answer
 */
export async function recordSecretsRead(
  db: Database,
  reader: Reader,
  subject: string | null,
  nfts: readonly { readonly id: string }[],
): Promise<void> {
  if (!seesSecrets(reader)) return;
  const details = { count: nfts.length, first: nfts[0]?.id ?? null, last: nfts.at(-1)?.id ?? null };
  const { companyId, origin } = reader;
  await recordByKey(db, { action: secretsReadAction, companyId, subject, details }, origin);
}
