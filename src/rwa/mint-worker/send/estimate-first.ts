import { gasCostOf } from '../../../chain/minting/gas.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';
import type { NextMint } from '../stores/queued-nft-store.ts';
import { handleRefusal } from './refusal.ts';

/**
 * Estimates a single mint, from which the size of the first batch is guessed.
 * @returns `ready`, or why nothing can be minted on the contract; undefined when it refuses only this NFT
 */
export async function estimateFirst(
  context: LaneContext,
  head: Head,
  next: NextMint,
): Promise<'ready' | Pause | undefined> {
  const { memory, node, signer } = context;
  const estimate = await node.estimate(signer.address, next.contract, [next]);
  if (typeof estimate !== 'bigint') return handleRefusal(context, head, next, estimate.refusal);
  memory.costs.set(next.contract, gasCostOf(estimate));
  return 'ready';
}
