import type { Database } from '../../contract/transaction.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { claimUrl } from '../assets/claim-url.ts';

export type ReissuedSecret = {
  readonly nftId: string;
  readonly secret: string;
  /** The claim page with the new secret. */
  readonly url: string;
};

/**
 * Gives an NFT a new claim secret; the old one stops working at once.
 * @param claimBaseUrl the claim page where neither RWA nor company has one
 * @returns undefined when there is no such NFT
 */
export async function reissueSecret(
  db: Database,
  vault: ClaimSecretVault,
  nftId: string,
  claimBaseUrl: string,
): Promise<ReissuedSecret | undefined> {
  const secret = vault.generate();
  const sealed = vault.seal(nftId, secret);
  const { rows }: { rows: { base: string | null }[] } = await db.raw(
    `UPDATE nfts n
     SET secret_cipher = :cipher, secret_key_id = :keyId, updated_at = clock_timestamp()
     FROM rwas r JOIN companies c ON c.id = r.company_id
     WHERE n.id = :nftId AND r.id = n.rwa_id
     RETURNING coalesce(r.claim_base_url, c.claim_base_url) AS base`,
    { cipher: sealed.cipher, keyId: sealed.keyId, nftId },
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return { nftId, secret, url: claimUrl(row.base ?? claimBaseUrl, nftId, secret) };
}
