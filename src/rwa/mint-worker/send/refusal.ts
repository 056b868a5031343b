import { encodeMintBatch } from '../../../chain/minting/mint-contract.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { refuseNft } from '../../minting/mint-state-store.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { inFencedTransaction, type Pause } from '../stores/lane-store.ts';
import { listOtherRecipients, type NextMint } from '../stores/queued-nft-store.ts';
import { endRefused, forgetRecipient, noteRefused, type RefusedMint } from '../stores/refusal-store.ts';

// Each costs an estimate. The next poll goes on.
const mostAtOnce = 24;

/** Whether it is time to ask the contract again about a mint that it rejected. */
export const isDue = ({ network }: LaneContext, head: Head, { refusedAt }: RefusedMint): boolean =>
  head.number - refusedAt >= BigInt(network.confirmations);

/**
 * Handles a mint that the contract would reject. When the contract would mint the same token to somebody else, it rejects
 * the recipient. Then the NFT waits, and fails when it is still rejected after the network's confirmations. It does not
 * fail at once: the node may lag, or the role may have just been granted. Otherwise the contract rejects everybody.
 * @param refusal the error of the contract, in words
 * @returns why nothing can be minted on the contract; undefined when other NFTs can be
 */
export async function handleRefusal(
  context: LaneContext,
  head: Head,
  mint: NextMint,
  refusal: string,
): Promise<Pause | undefined> {
  const { db, lease } = context;
  const { contract, nftId } = mint;
  if (!(await mintsToOthers(context, head, mint))) return refusesAll(contract, refusal);
  const isNoted = await noteRefused(db, { chainId: lease.chainId, contract, nftId }, head.number);
  if (!isNoted) context.memory.locked = [...context.memory.locked, nftId];
  return undefined;
}

const refusesAll = (contract: string, refusal: string): Pause => ({
  reason: 'contract_refuses',
  detail: `${contract} refuses a mint: ${refusal}`,
});

/**
 * Asks again about rejected NFTs of a contract, one by one, once as many blocks have passed as the network has confirmations.
 * An NFT that is still rejected fails. The others can be sent, with all NFTs for the same recipient.
 * @returns those that still wait; why nothing can be minted on the contract, if so
 */
export async function recheckRefused(
  context: LaneContext,
  head: Head,
  refused: readonly RefusedMint[],
): Promise<readonly RefusedMint[] | Pause> {
  const { db, lease, node, signer } = context;
  let waiting = refused;
  const due = refused.filter((each) => isDue(context, head, each));
  for (const mint of due.slice(0, mostAtOnce)) {
    const { contract, recipient, tokenId } = mint;
    const estimate = await node.estimate(signer.address, contract, encodeMintBatch([mint]));
    if (typeof estimate === 'bigint') {
      await forgetRecipient(db, { chainId: lease.chainId, contract, recipient });
      waiting = waiting.filter((other) => other.recipient !== recipient);
      continue;
    }
    if (!(await mintsToOthers(context, head, mint))) return refusesAll(contract, estimate.refusal);
    if ((await node.ownerOf(contract, tokenId, head.number)) !== null) {
      const detail = `${contract} refuses ${recipient}, and token ${tokenId} has an owner already.`;
      return { reason: 'contract_refuses', detail };
    }
    const reason = `The contract refuses to mint to ${recipient}: ${estimate.refusal}`;
    await failRefused(context, mint, reason);
  }
  return waiting;
}

/** Fails an NFT that is queued still for the same recipient: it is in no transaction. */
async function failRefused(
  { db, lease, step }: LaneContext,
  { nftId, recipient }: RefusedMint,
  reason: string,
): Promise<void> {
  const isFailed = await inFencedTransaction(db, lease, async (tx) => {
    await endRefused(tx, nftId);
    return refuseNft(tx, { nftId, recipient, reason });
  });
  if (isFailed) await step('refused', { nftIds: [nftId], failed: 1, reason });
}

/** Whether the contract would mint to any other recipient. Asked once for each block. */
async function mintsToOthers(
  { db, lease, memory, node, signer }: LaneContext,
  head: Head,
  mint: NextMint,
): Promise<boolean> {
  const { contract, tokenId } = mint;
  if (memory.mintsAt.get(contract) === head.hash) return true;
  const others = await listOtherRecipients(db, lease.chainId, mint);
  for (const recipient of [...others, signer.address]) {
    const estimate = await node.estimate(signer.address, contract, encodeMintBatch([{ recipient, tokenId }]));
    if (typeof estimate !== 'bigint') continue;
    memory.mintsAt.set(contract, head.hash);
    return true;
  }
  return false;
}
