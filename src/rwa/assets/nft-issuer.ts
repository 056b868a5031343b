import { problem } from '../../base/errors.ts';
import type { Database } from '../../contract/transaction.ts';
import type { KeyEntry } from '../../db/records/audit-store.ts';
import { type ClaimSecretVault, type SealedSecret, sealNewSecret } from './claim-secret.ts';
import { insertSeries, type Series } from './nft-creation-store.ts';
import type { Nft } from './nft-row.ts';
import { newTokenPart, tokenIdOf } from './token-id.ts';

type Issue = {
  readonly companyId: string;
  readonly rwaId: string;
  readonly count: number;
};

/** A new NFT, whose secret needs not be opened. */
export type IssuedNft = Nft & { readonly secret: string };

/** NFTs of one RWA that were issued together, by serial. */
export type IssuedSeries = Series & { readonly nfts: readonly IssuedNft[] };

/**
 * Issues NFTs with the next serials of an RWA and new secrets, in one statement.
 * @param told the audit entry of it, by a key; none by default
 * @throws problem `rwa_not_found` when the company has no such RWA
 */
export async function issueSeries(
  db: Database,
  vault: ClaimSecretVault,
  { companyId, rwaId, count }: Issue,
  told?: KeyEntry,
): Promise<IssuedSeries> {
  const wanted = Array.from({ length: count }, () => ({
    ...sealNewSecret(vault),
    tokenPart: newTokenPart(),
  }));
  const ids = wanted.map(({ id }) => id);
  const ciphers = wanted.map(({ sealed }) => sealed.cipher);
  const tokenParts = wanted.map(({ tokenPart }) => tokenPart);
  const keyId = vault.activeKeyId;
  const series = await insertSeries(db, { companyId, rwaId, ids, ciphers, keyId, tokenParts }, told);
  if (series === undefined) throw problem('rwa_not_found');
  return { ...series, nfts: wanted.map((nft, index) => issued(companyId, series, nft, index)) };
}

type NewToken = {
  readonly id: string;
  readonly secret: string;
  readonly sealed: SealedSecret;
  readonly tokenPart: bigint;
};

function issued(
  companyId: string,
  { rwaId, rwaNumber, first, createdAt }: Series,
  { tokenPart, ...nft }: NewToken,
  index: number,
): IssuedNft {
  const serial = first + BigInt(index);
  return {
    ...nft,
    companyId,
    rwaId,
    rwaNumber,
    serial,
    tokenId: tokenIdOf(rwaNumber, tokenPart),
    mintState: 'unclaimed',
    mintError: null,
    mintReason: null,
    recipient: null,
    mintedAt: null,
    mintedTx: null,
    mintedBlock: null,
    owner: null,
    lastTransfer: null,
    data: null,
    attributes: null,
    imageUrl: null,
    createdAt,
    updatedAt: createdAt,
  };
}

/** Issues NFTs as {@link issueSeries} does, without an audit entry. @returns the NFTs, by serial */
export async function issueNfts(
  db: Database,
  vault: ClaimSecretVault,
  issue: Issue,
): Promise<readonly IssuedNft[]> {
  return (await issueSeries(db, vault, issue)).nfts;
}
