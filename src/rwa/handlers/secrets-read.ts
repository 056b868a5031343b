import type { AuditEntry } from '../../db/records/audit-store.ts';

export const secretsReadAction = 'nft.secrets_read';

/**
 * The entry of claim secrets that an answer shows. It is stored before the answer goes out.
 * @param subject the NFT, or the RWA whose NFTs they are; null for those of all RWAs
 * @param nfts in the order of the answer
 */
export const secretsRead = (
  companyId: string,
  subject: string | null,
  nfts: readonly { readonly id: string }[],
): AuditEntry => ({
  action: secretsReadAction,
  companyId,
  subject,
  details: { count: nfts.length, first: nfts[0]?.id ?? null, last: nfts.at(-1)?.id ?? null },
});
