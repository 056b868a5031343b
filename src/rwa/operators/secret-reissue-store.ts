import type { Database, Tx } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import type { ClaimSecretVault, SealedSecret } from '../assets/claim-secret.ts';
import { claimUrl } from '../assets/claim-url.ts';

export type ReissuedSecret = {
  readonly nftId: string;
  readonly secret: string;
  /** The claim page with the new secret. */
  readonly url: string;
};

/** A minted NFT gets no new secret: it would open nothing any more. */
export class NftMintedError extends Error {
  constructor(nftId: string) {
    super(`NFT ${nftId} is minted: a claim secret opens nothing any more.`);
    this.name = 'NftMintedError';
  }
}

/**
 * Gives an NFT a new claim secret; the old one stops working at once.
 * @param claimBaseUrl the claim page where neither RWA nor company has one
 * @returns undefined when there is no such NFT
 * @throws NftMintedError
 */
export async function reissueSecret(
  db: Database,
  vault: ClaimSecretVault,
  nftId: string,
  claimBaseUrl: string,
): Promise<ReissuedSecret | undefined> {
  const secret = vault.generate();
  const sealed = vault.seal(nftId, secret);
  return inTransaction(db, async (tx) => {
    if ((await findState(tx, nftId)) === 'minted') throw new NftMintedError(nftId);
    const base = await updateSecret(tx, nftId, sealed);
    if (base === undefined) return undefined;
    return { nftId, secret, url: claimUrl(base ?? claimBaseUrl, nftId, secret) };
  });
}

/** @returns the NFT's claim page, null for the default one; undefined when there is no such NFT */
async function updateSecret(
  tx: Tx,
  nftId: string,
  { cipher, keyId }: SealedSecret,
): Promise<string | null | undefined> {
  const { rows }: { rows: { base: string | null }[] } = await tx.raw(
    `UPDATE nfts n
     SET secret_cipher = :cipher, secret_key_id = :keyId, updated_at = clock_timestamp()
     FROM rwas r JOIN companies c ON c.id = r.company_id
     WHERE n.id = :nftId AND r.id = n.rwa_id
     RETURNING coalesce(r.claim_base_url, c.claim_base_url) AS base`,
    { cipher, keyId, nftId },
  );
  return rows[0]?.base;
}

/** The state of the NFT, whose row stays locked until the transaction ends. */
async function findState(tx: Tx, nftId: string): Promise<string | undefined> {
  const { rows }: { rows: { mint_state: string }[] } = await tx.raw(
    'SELECT mint_state FROM nfts WHERE id = ? FOR NO KEY UPDATE',
    [nftId],
  );
  return rows[0]?.mint_state;
}
