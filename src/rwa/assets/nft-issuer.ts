import type { Tx } from '../../contract/transaction.ts';
import { problem } from '../../errors.ts';
import { type ClaimSecretVault, sealNewSecret } from './claim-secret.ts';
import { insertNfts } from './nft-creation-store.ts';
import type { Nft } from './nft-row.ts';

type Issue = {
  readonly companyId: string;
  readonly rwaId: string;
  readonly count: number;
};

/** A new NFT, whose secret needs not be opened. */
export type IssuedNft = Nft & { readonly secret: string };

/**
 * Issues NFTs with the next serials of an RWA and new secrets, in one statement.
 * @returns the NFTs, by serial
 * @throws problem `rwa_not_found` when the company has no such RWA
 */
export async function issueNfts(
  tx: Tx,
  vault: ClaimSecretVault,
  { companyId, rwaId, count }: Issue,
): Promise<IssuedNft[]> {
  const wanted = Array.from({ length: count }, () => ({ companyId, rwaId, ...sealNewSecret(vault) }));
  const inserted = await insertNfts(tx, wanted);
  const issued = wanted.flatMap(({ id, secret }): IssuedNft[] => {
    const nft = inserted.get(id);
    return nft ? [{ ...nft, secret }] : [];
  });
  if (issued.length < count) throw problem('rwa_not_found');
  // Serials are given in the order of the NFTs that are wanted.
  return issued;
}
