import { refuseNft } from '../mint-state-store.ts';
import type { LaneContext } from './lane-context.ts';
import type { Pause } from './lane-store.ts';
import { type NextWaiting, otherRecipients } from './transaction-store.ts';

/**
 * The contract would refuse the mint that has waited longest. When it would mint the same token to somebody else, the
 * recipient is what it refuses, and no retry mends that: the NFT fails. Otherwise it refuses everybody.
 * @returns why nothing is minted on the contract; undefined when the others may go on
 */
export async function settleRefusal(
  context: LaneContext,
  mint: NextWaiting,
  refusal: string,
): Promise<Pause | undefined> {
  const { contract, nftId, recipient } = mint;
  if (!(await mintsToOthers(context, mint))) {
    return { reason: 'contract_refuses', detail: `${contract} refuses a mint: ${refusal}` };
  }
  const { lanes, lease, step } = context;
  const reason = `The contract refuses to mint to ${recipient}: ${refusal}`;
  const isRefused = await lanes.fenced(lease, (tx) => refuseNft(tx, { nftId, recipient, reason }));
  if (isRefused) await step('refused', { nftIds: [nftId], failed: 1, reason });
  return undefined;
}

async function mintsToOthers({ db, lease, node, signer }: LaneContext, mint: NextWaiting): Promise<boolean> {
  const known = await otherRecipients(db, lease, mint);
  for (const recipient of [...known, signer.address]) {
    const { contract, tokenId } = mint;
    const answer = await node.estimate(signer.address, contract, [{ recipient, tokenId }]);
    if (typeof answer === 'bigint') return true;
  }
  return false;
}
