import type { components } from '../../contract/generated/rwa.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { claimUrl } from '../assets/claim-url.ts';
import type { IssuedNft } from '../assets/nft-issuer.ts';
import type { Nft } from '../assets/nft-row.ts';
import type { Rwa, RwaDetail } from '../assets/rwa-row.ts';
import { serialText } from '../assets/token-id.ts';
import { publicNote } from '../minting/mint-reason.ts';

type Schemas = components['schemas'];

export function toApiRwa(rwa: Rwa): Schemas['Rwa'] {
  return {
    id: rwa.id,
    companyId: rwa.companyId,
    name: rwa.name,
    description: rwa.description,
    type: rwa.type,
    imageUrl: rwa.imageUrl,
    // The table limits chain ids to the exact integers of a number.
    chainId: Number(rwa.chainId),
    contractAddress: rwa.contractAddress,
    isBuyable: rwa.isBuyable,
    isClaimable: rwa.isClaimable,
    claimPage: rwa.claimPage,
    price: rwa.price,
    currency: rwa.currency,
    archivedAt: rwa.archivedAt?.toISOString() ?? null,
    createdAt: rwa.createdAt.toISOString(),
    updatedAt: rwa.updatedAt.toISOString(),
  };
}

export function toApiRwaDetail(rwa: RwaDetail): Schemas['RwaDetail'] {
  return {
    ...toApiRwa(rwa),
    data: rwa.data,
    claimBaseUrl: rwa.ownClaimBaseUrl,
    totalNfts: Number(rwa.totalNfts),
    claimedNfts: Number(rwa.claimedNfts),
    unclaimedNfts: Number(rwa.totalNfts - rwa.claimedNfts),
  };
}

/** Converts an NFT, with its opened secret, to the contract's form. The RWA names the claim page. */
export type ToApiNft = (nft: Nft | IssuedNft, rwa: Pick<Rwa, 'claimBaseUrl'>) => Schemas['Nft'];

/** The secret of an NFT, empty where it cannot be opened: one damaged row must not keep a company from all others of a list. */
export type OpenSecret = (nft: Pick<Nft, 'id' | 'sealed'>) => string;

/** @param onDamaged called for an NFT whose secret cannot be opened */
export function createOpenSecret(
  vault: ClaimSecretVault,
  onDamaged: (nftId: string, error: unknown) => void,
): OpenSecret {
  return ({ id, sealed }) => {
    try {
      return vault.open(id, sealed);
    } catch (error) {
      onDamaged(id, error);
      return '';
    }
  };
}

/** A reorganisation may have taken back a mint whose transfer is still known. */
function ownershipOf({ mintState, owner, lastTransfer }: Pick<Nft, 'mintState' | 'owner' | 'lastTransfer'>) {
  if (mintState !== 'minted' || lastTransfer === null)
    return { owner: null, ownerSince: null, burnedAt: null };
  const time = lastTransfer.time.toISOString();
  if (owner === null) return { owner, ownerSince: null, burnedAt: time };
  return { owner, ownerSince: { ...lastTransfer, time }, burnedAt: null };
}

type ToApiDeps = {
  readonly openSecret: OpenSecret;
  /** The claim page where neither RWA nor company has one. */
  readonly claimBaseUrl: string;
};

export function createToApiNft({ openSecret, claimBaseUrl }: ToApiDeps): ToApiNft {
  return (nft, rwa) => {
    const secret = 'secret' in nft ? nft.secret : openSecret(nft);
    return {
      id: nft.id,
      rwaId: nft.rwaId,
      serial: serialText(nft.serial),
      tokenId: nft.tokenId,
      secret,
      url: claimUrl(rwa.claimBaseUrl ?? claimBaseUrl, nft.id, secret),
      claimStatus: nft.mintState,
      mintError: nft.mintError,
      mintNote: nft.mintReason === null ? null : publicNote(nft.mintReason),
      recipient: nft.recipient,
      mintedAt: nft.mintedAt?.toISOString() ?? null,
      mintedTx: nft.mintedTx,
      mintedBlock: nft.mintedBlock,
      ...ownershipOf(nft),
      data: nft.data,
      attributes: nft.attributes?.map(({ trait_type, value }) => ({ trait_type, value })) ?? null,
      imageUrl: nft.imageUrl,
      createdAt: nft.createdAt.toISOString(),
      updatedAt: nft.updatedAt.toISOString(),
    };
  };
}
