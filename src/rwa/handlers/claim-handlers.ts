import type { components, operations } from '../../contract/generated/claim.ts';
import type { Handlers } from '../../contract/operation.ts';
import { serialText } from '../assets/token-id.ts';
import type { HolderClaim } from '../minting/holder-claim-store.ts';
import type { HolderClaims } from '../minting/holder-claims.ts';
import { publicNote } from '../minting/mint-reason.ts';
import { parseRecipient } from './recipient.ts';

type Deps = { readonly claims: HolderClaims };

/** The operations of whoever holds the secret of an NFT. */
export function createClaimHandlers({ claims }: Deps): Handlers<operations, never, keyof operations> {
  return {
    async getClaim({ path: { nftId }, body: { secret } }) {
      return replyOf(await claims.read({ nftId, secret }));
    },
    async createClaim({ path: { nftId }, body }, { address, requestId }) {
      const { secret } = body;
      const recipient = parseRecipient(body.recipient);
      const by = { kind: 'holder', address, requestId } as const;
      return replyOf(await claims.claim({ nftId, secret, recipient, by }));
    },
  };
}

const replyOf = (claim: HolderClaim) => ({
  status: 200 as const,
  body: toApiClaim(claim),
  headers: { 'Cache-Control': 'no-store' },
});

function toApiClaim(claim: HolderClaim): components['schemas']['Claim'] {
  const { mintState, mintReason, mintedTx, explorerUrl } = claim;
  return {
    nftId: claim.nftId,
    companyName: claim.companyName,
    serial: serialText(claim.serial),
    tokenId: claim.tokenId,
    name: claim.name,
    description: claim.description,
    type: claim.type,
    imageUrl: claim.imageUrl,
    // The table limits chain ids to the integers that a number holds exactly.
    chainId: Number(claim.chainId),
    networkName: claim.networkName,
    contractAddress: claim.contractAddress,
    isClaimable: claim.isOpen && (mintState === 'unclaimed' || mintState === 'failed'),
    claimStatus: mintState,
    mintError: claim.mintError,
    mintNote: mintReason === null ? null : publicNote(mintReason),
    recipient: claim.recipient,
    mintedAt: claim.mintedAt?.toISOString() ?? null,
    mintedTx,
    transactionUrl: mintedTx === null || explorerUrl === null ? null : `${explorerUrl}/tx/${mintedTx}`,
  };
}
