import type { LaneContext } from '../../context/lane-context.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { ChainView } from './chain-view.ts';

// Of a transaction that is next, the node is asked after so long, then after twice as long each time: there are nodes
// that never show what waits.
const firstWaitMs = 1_000;

/**
 * Whether the node has forgotten the transaction that the chain takes next, and so perhaps those behind it: nodes drop
 * what waits when they restart, when their pool is full, and some when a block is. It is asked when a block has come
 * without it.
 * @throws when the node does not answer
 */
export async function isForgotten(
  { memory, node, now, settings }: LaneContext,
  { head, count }: ChainView,
  { id, nonce, attempts: [newest] }: OpenTransaction,
): Promise<boolean> {
  if (nonce !== count || !memory.broadcastAt.has(id) || memory.refused.has(id)) return false;
  const { next } = memory;
  if (next?.id !== id) {
    memory.next = { id, block: head.number, askAt: now() + firstWaitMs, waitMs: firstWaitMs };
    return false;
  }
  if (head.number <= next.block || now() < next.askAt) return false;
  const waitMs = next.waitMs * 2;
  memory.next = { id, block: head.number, askAt: now() + waitMs, waitMs };
  const isGone = (await node.senderOf(newest.hash)) === null;
  const hasWaited = head.number - newest.sentAtBlock >= BigInt(settings.stuckBlocks);
  const times = (memory.forgotten.get(id)?.times ?? 0) + 1;
  if (isGone && hasWaited) memory.forgotten.set(id, { times, isTaken: false });
  else memory.forgotten.delete(id);
  return isGone;
}
