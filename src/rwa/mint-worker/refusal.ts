import type { Head } from '../../chain/minting/mint-node.ts';
import { refuseNft } from '../minting/mint-state-store.ts';
import type { LaneContext } from './lane-context.ts';
import type { Pause } from './lane-store.ts';
import { type NextWaiting, otherRecipients } from './transaction-store.ts';

// Beyond it nothing is lost: who is forgotten is noticed again.
const mostAside = 1_000;

/** NFTs that are set aside at this block: they hold nobody up until they are asked for again. */
export function asideAt({ memory, network }: LaneContext, head: Head): string[] {
  const isAside = (since: bigint) => head.number - since < BigInt(network.confirmations);
  return [...memory.refused].filter(([, since]) => isAside(since)).map(([nftId]) => nftId);
}

/**
 * The contract would refuse this mint. When it would mint the same token to somebody else, its recipient is what it
 * refuses: the NFT is set aside, and fails when that is still so at the depth of the network, since a node that lags
 * or a role that has just been given would look the same. Otherwise the contract refuses everybody.
 * @returns why nothing is minted on the contract; undefined when the others may go on
 */
export async function settleRefusal(
  context: LaneContext,
  head: Head,
  mint: NextWaiting,
  refusal: string,
): Promise<Pause | undefined> {
  const { memory, node, signer } = context;
  const { contract, nftId, recipient, tokenId } = mint;
  const since = memory.refused.get(nftId);
  memory.refused.delete(nftId);
  if (!(await mintsToOthers(context, mint))) {
    return { reason: 'contract_refuses', detail: `${contract} refuses a mint: ${refusal}` };
  }
  if (memory.refused.size >= mostAside) memory.refused.clear();
  if ((await node.ownerOf(contract, tokenId, head.number)) !== null) {
    memory.refused.set(nftId, head.number);
    const detail = `${contract} refuses ${recipient}, and token ${tokenId} has an owner already.`;
    return { reason: 'contract_refuses', detail };
  }
  if (since === undefined) memory.refused.set(nftId, head.number);
  // Asked last, so that nothing which has come about in between is held against it.
  else if (typeof (await node.estimate(signer.address, contract, [mint])) !== 'bigint') {
    await fail(context, mint, refusal);
  }
  return undefined;
}

async function fail({ lanes, lease, step }: LaneContext, mint: NextWaiting, refusal: string): Promise<void> {
  const { nftId, recipient } = mint;
  const reason = `The contract refuses to mint to ${recipient}: ${refusal}`;
  const isRefused = await lanes.fenced(lease, (tx) => refuseNft(tx, { nftId, recipient, reason }));
  if (isRefused) await step('refused', { nftIds: [nftId], failed: 1, reason });
}

async function mintsToOthers({ db, lease, node, signer }: LaneContext, mint: NextWaiting): Promise<boolean> {
  const known = await otherRecipients(db, lease.chainId, mint);
  for (const recipient of [...known, signer.address]) {
    const { contract, tokenId } = mint;
    const answer = await node.estimate(signer.address, contract, [{ recipient, tokenId }]);
    if (typeof answer === 'bigint') return true;
  }
  return false;
}
