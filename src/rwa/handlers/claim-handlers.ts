import { inTime } from '../../base/in-time.ts';
import { isContract } from '../../chain/contracts/contract-check.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { components, operations } from '../../contract/generated/claim.ts';
import type { Handlers } from '../../contract/operation.ts';
import { serialText } from '../assets/token-id.ts';
import type { HolderClaim } from '../minting/accept/holder-claim-store.ts';
import type { HolderClaims } from '../minting/accept/holder-claims.ts';
import { publicNote } from '../minting/mint-reason.ts';
import { parseRecipient } from './recipient.ts';

type Deps = {
  readonly claims: HolderClaims;
  readonly networks: Pick<NetworkRegistry, 'find'>;
  readonly clients: Pick<RpcClients, 'for'>;
};

// A person waits for the answer, and it is only a warning.
const deadlineMs = 3_000;

/** The operations for a person who has the secret of an NFT. */
export function createClaimHandlers({
  claims,
  networks,
  clients,
}: Deps): Handlers<operations, never, keyof operations> {
  /** Whether an address is a contract on a network; null when no node says so in time. */
  const hasCode = async (chainId: string, address: string): Promise<boolean | null> => {
    const network = await networks.find(chainId);
    if (network === undefined) return null;
    // The client reports what is wrong with its nodes.
    return inTime(isContract(clients.for(network), address), deadlineMs).catch(() => null);
  };
  return {
    async getClaim({ path: { nftId }, body: { secret } }, { network }) {
      return replyOf(await claims.read({ nftId, secret, caller: stranger(network) }));
    },
    async checkClaimRecipient({ path: { nftId }, body }, { network }) {
      const { secret } = body;
      const recipient = parseRecipient(body.recipient);
      const { chainId } = await claims.check({ nftId, secret, recipient, caller: stranger(network) });
      const checked = { recipient, hasCode: await hasCode(chainId, recipient) };
      return { status: 200, body: checked, headers: notStored };
    },
    async createClaim({ path: { nftId }, body }, { address, network, requestId }) {
      const { secret } = body;
      const recipient = parseRecipient(body.recipient);
      const by = { kind: 'holder', address, requestId } as const;
      return replyOf(await claims.claim({ nftId, secret, recipient, by, caller: stranger(network) }));
    },
  };
}

const stranger = (network: string) => ({ kind: 'network', name: network }) as const;

const notStored = { 'Cache-Control': 'no-store' };

const replyOf = (claim: HolderClaim) => ({
  status: 200 as const,
  body: toApiClaim(claim),
  headers: notStored,
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
    // The table limits chain ids to the exact integers of a number.
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
