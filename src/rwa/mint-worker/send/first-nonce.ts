import type { Head } from '../../../chain/minting/mint-node.ts';
import { isOfNode } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';

/**
 * Finds the first nonce of a lane that has stored none. It continues with what is mined, whoever sent that. A count
 * above 0 may be that of another chain, or a lie, and what is signed above it is never mined: it is believed when the
 * final block has the same, or, where the node does not tell that, when it is seen again after the block at which it was
 * first seen is final.
 * @param count of the transactions in blocks, asked before
 * @returns the nonce, or why there is none yet
 * @throws Error when the node serves another chain
 */
export async function findFirstNonce(
  context: LaneContext,
  head: Head,
  count: bigint,
): Promise<bigint | Pause> {
  const { memory, network, node } = context;
  const chainId = await node.chainId();
  if (chainId.toString() !== network.chainId) {
    throw new Error(`A node of network ${network.chainId} serves network ${chainId}.`);
  }
  if (count === 0n || (await isBelievable(context, head, count))) {
    memory.firstCount = undefined;
    return count;
  }
  const detail = `The key was used before: ${count} transactions are in blocks, and not known to be final.`;
  return { reason: 'foreign_nonce', detail };
}

async function isBelievable(context: LaneContext, head: Head, count: bigint): Promise<boolean> {
  const { memory, network, node } = context;
  const finalized = await node.finalized(head, network.finalityDepth);
  const final = await countAt(context, finalized);
  if (final !== undefined) return final === count;
  const first = memory.firstCount;
  if (first?.seen !== count) {
    memory.firstCount = { seen: count, number: head.number, hash: head.hash };
    return false;
  }
  if (finalized < first.number) return false;
  if ((await node.block(first.number))?.hash === first.hash) return true;
  // The first look was at another chain, or this one is.
  memory.firstCount = undefined;
  return false;
}

/** @returns undefined when no block is known to be final, or the node does not keep the state of that block */
async function countAt({ node, signer }: LaneContext, finalized: bigint): Promise<bigint | undefined> {
  if (finalized < 0n) return undefined;
  try {
    return await node.transactionCount(signer.address, finalized);
  } catch (error) {
    if (isOfNode(error)) return undefined;
    throw error;
  }
}
