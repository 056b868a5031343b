import type { Head } from '../../../chain/minting/mint-node.ts';
import { refuseNft } from '../../minting/mint-state-store.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { lookIfShown, unfitContract } from '../context/unfit-contract.ts';
import { inFencedTransaction, type Pause } from '../stores/lane-store.ts';
import { listQueuedForContract } from '../stores/queued-nft-store.ts';

/**
 * Fails what is queued for a contract that is none that mints.
 * @returns why nothing is sent to it; undefined when it may mint
 */
export async function refuseUnfit(
  context: LaneContext,
  head: Head,
  contract: string,
): Promise<Pause | 'refused' | undefined> {
  const { network, node } = context;
  // What was deployed just now has no code at the final block yet.
  const atHead = await lookIfShown(node, contract, head.number);
  // Where the node does not show it, the estimate decides, without which nothing is sent.
  if (atHead === 'contract' || atHead === undefined) return undefined;
  const finalized = await node.finalized(head, network.finalityDepth);
  const unfit = await unfitContract(context, contract, finalized);
  if (unfit === undefined || unfit === 'doubted') {
    const detail = `${contract} looks like no contract that mints; it is looked at again at a later block.`;
    return { reason: 'contract_refuses', detail };
  }
  await failAll(context, contract, unfit.reason);
  return 'refused';
}

const mostAtOnce = 200;

async function failAll({ db, lease, step }: LaneContext, contract: string, reason: string): Promise<void> {
  const queued = await listQueuedForContract(db, lease.chainId, contract, mostAtOnce);
  const nftIds = await inFencedTransaction(db, lease, async (tx) => {
    const failed: string[] = [];
    for (const { nftId, recipient } of queued) {
      if (await refuseNft(tx, { nftId, recipient, reason })) failed.push(nftId);
    }
    return failed;
  });
  if (nftIds.length > 0) await step('refused', { nftIds, failed: nftIds.length, reason });
}
