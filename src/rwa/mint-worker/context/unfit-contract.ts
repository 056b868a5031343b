import type { ContractLook } from '../../../chain/minting/evidence-node.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { refuseNft } from '../../minting/mint-state-store.ts';
import { inFencedTransaction, type Pause } from '../stores/lane-store.ts';
import { listQueuedForContract, type QueuedMint } from '../stores/queued-nft-store.ts';
import { endRefused } from '../stores/refusal-store.ts';
import { isOfNode } from './inquiry.ts';
import type { LaneContext } from './lane-context.ts';
import { isSeenTwice } from './second-look.ts';

type UnfitLook = Exclude<ContractLook, 'contract'>;
export type Unfit = { readonly look: UnfitLook; readonly reason: string };

const words: Readonly<Record<UnfitLook, string>> = {
  no_code: 'it has no code',
  nonsense: 'it answers who owns a token that does not exist with nonsense',
};

/**
 * Finds whether a contract is none that mints, at the newest final block: it has no code, or answers anything to any
 * question. Two final blocks of the chain with this network's id must show the same.
 * @returns what is there, and the reason in words; `doubted` after the first block; undefined when it may mint, or when the
 *   node does not show it
 */
export async function unfitContract(
  context: LaneContext,
  contract: string,
): Promise<Unfit | 'doubted' | undefined> {
  const { memory, node } = context;
  if (node.finalized < 0n) return undefined;
  const look = await lookIfShown(node, contract, node.finalized);
  if (look === undefined) return undefined;
  if (look === 'contract') {
    memory.firstLooks.delete(contract);
    return undefined;
  }
  const block = await node.block(node.finalized);
  // The same block says nothing new about a contract that may be deployed in the next one.
  if (block === null || block.number === memory.firstLooks.get(contract)?.number) return 'doubted';
  if (!(await isSeenTwice(context, contract, look, block))) return 'doubted';
  return { look, reason: `${contract} is no contract that mints: ${words[look]}.` };
}

/**
 * Reads what is at an address at a block. A node may keep the state of no block but the newest ones, or of none.
 * @returns undefined when the node does not show it
 */
async function lookIfShown(
  node: LaneContext['node'],
  contract: string,
  at: bigint,
): Promise<ContractLook | undefined> {
  try {
    return await node.lookAt(contract, at);
  } catch (error) {
    if (isOfNode(error)) return undefined;
    throw error;
  }
}

/**
 * Fails what is queued for a contract that is none that mints.
 * @returns why nothing is sent to it; undefined when it may mint
 */
export async function refuseUnfit(
  context: LaneContext,
  head: Head,
  contract: string,
): Promise<Pause | 'refused' | undefined> {
  const { db, lease, node } = context;
  // A new contract has no code at the final block yet.
  const atHead = await lookIfShown(node, contract, head.number);
  // When the node does not show the code, the estimate decides. Nothing is sent without an estimate.
  if (atHead === 'contract') context.memory.firstLooks.delete(contract);
  if (atHead === 'contract' || atHead === undefined) return undefined;
  const unfit = await unfitContract(context, contract);
  if (unfit === undefined || unfit === 'doubted') {
    const detail = `${contract} looks like no contract that mints; it is looked at again at a later block.`;
    return { reason: 'contract_refuses', detail };
  }
  const queued = await listQueuedForContract(db, lease.chainId, contract, mostAtOnce);
  await failQueued(context, queued, unfit.reason);
  return 'refused';
}

const mostAtOnce = 200;

/** Fails those of the NFTs that are queued still for the same recipient: none of them is in a transaction. */
export async function failQueued(
  { db, lease, step }: LaneContext,
  mints: readonly QueuedMint[],
  reason: string,
): Promise<void> {
  const nftIds = await inFencedTransaction(db, lease, async (tx) => {
    const failed: string[] = [];
    for (const { nftId, recipient } of mints) {
      await endRefused(tx, nftId);
      if (await refuseNft(tx, { nftId, recipient, reason })) failed.push(nftId);
    }
    return failed;
  });
  if (nftIds.length > 0) await step('refused', { nftIds, failed: nftIds.length, reason });
}
