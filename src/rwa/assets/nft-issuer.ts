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

/**
 * Issues NFTs with the next serials of an RWA and new secrets, in one statement.
 * @returns the NFTs, by serial
 * @throws problem `rwa_not_found` when the company has no such RWA
 */
export async function issueNfts(
  tx: Tx,
  vault: ClaimSecretVault,
  { companyId, rwaId, count }: Issue,
): Promise<Nft[]> {
  const wanted = Array.from({ length: count }, () => ({ companyId, rwaId, ...sealNewSecret(vault) }));
  const issued = await insertNfts(tx, wanted);
  if (issued.size < count) throw problem('rwa_not_found');
  return [...issued.values()].toSorted((one, other) => (one.serial < other.serial ? -1 : 1));
}
