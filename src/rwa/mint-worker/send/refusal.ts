import type { Head } from '../../../chain/minting/mint-node.ts';
import { refuseNft } from '../../minting/mint-state-store.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { inFencedTransaction, type Pause } from '../stores/lane-store.ts';
import { listOtherRecipients, type NextMint } from '../stores/queued-nft-store.ts';

// Bounds the memory. Beyond it a refused NFT is met again at each poll, until the first ones are through.
const maxDeferred = 1_000;
// Of NFTs that are there no more, nobody asks again.
const keptConfirmations = 10n;

/** The ids of NFTs that were refused recently. They are skipped until the depth of confirmation is reached. */
export function deferredNfts({ memory, network }: LaneContext, head: Head): string[] {
  const confirmations = BigInt(network.confirmations);
  const isDeferred = (refusedAt: bigint) => head.number - refusedAt < confirmations;
  return [...memory.refusedAt].filter(([, refusedAt]) => isDeferred(refusedAt)).map(([nftId]) => nftId);
}

/**
 * Handles a mint that the contract would refuse. When the contract would mint the same token to another recipient,
 * it is the recipient that it refuses: the NFT is deferred, and fails when it is still refused after the
 * network's confirmations. It does not fail at once, since a node that lags or a role that was just granted looks
 * the same. Otherwise the contract refuses everybody.
 * @param refusal the error of the contract, in words
 * @returns why nothing can be minted on the contract; undefined when other NFTs can be
 */
export async function handleRefusal(
  context: LaneContext,
  head: Head,
  mint: NextMint,
  refusal: string,
): Promise<Pause | undefined> {
  const { memory, node, signer } = context;
  const { contract, nftId, recipient, tokenId } = mint;
  const refusedAt = memory.refusedAt.get(nftId);
  memory.refusedAt.delete(nftId);
  if (!(await mintsToOthers(context, mint))) {
    return { reason: 'contract_refuses', detail: `${contract} refuses a mint: ${refusal}` };
  }
  if (memory.refusedAt.size >= maxDeferred) forgetOld(context, head);

  const owner = await node.ownerOf(contract, tokenId, head.number);
  if (owner !== null) {
    memory.refusedAt.set(nftId, head.number);
    const detail = `${contract} refuses ${recipient}, and token ${tokenId} has an owner already.`;
    return { reason: 'contract_refuses', detail };
  }
  if (refusedAt === undefined) {
    if (memory.refusedAt.size < maxDeferred) memory.refusedAt.set(nftId, head.number);
    return undefined;
  }
  // Estimated again, so that a cause which has ended in the meantime does not count.
  const estimate = await node.estimate(signer.address, contract, [mint]);
  if (typeof estimate !== 'bigint') await failRefused(context, mint, refusal);
  return undefined;
}

function forgetOld({ memory, network }: LaneContext, head: Head): void {
  const kept = keptConfirmations * BigInt(network.confirmations) + 100n;
  for (const [nftId, refusedAt] of memory.refusedAt) {
    if (head.number - refusedAt > kept) memory.refusedAt.delete(nftId);
  }
}

async function failRefused(
  { db, lease, step }: LaneContext,
  { nftId, recipient }: NextMint,
  refusal: string,
): Promise<void> {
  const reason = `The contract refuses to mint to ${recipient}: ${refusal}`;
  const isFailed = await inFencedTransaction(db, lease, (tx) => refuseNft(tx, { nftId, recipient, reason }));
  if (isFailed) await step('refused', { nftIds: [nftId], failed: 1, reason });
}

/** Whether the contract would mint the token to any other recipient. */
async function mintsToOthers({ db, lease, node, signer }: LaneContext, mint: NextMint): Promise<boolean> {
  const { contract, tokenId } = mint;
  const others = await listOtherRecipients(db, lease.chainId, mint);
  for (const recipient of [...others, signer.address]) {
    const estimate = await node.estimate(signer.address, contract, [{ recipient, tokenId }]);
    if (typeof estimate === 'bigint') return true;
  }
  return false;
}
