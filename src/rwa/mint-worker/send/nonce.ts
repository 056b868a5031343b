import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';
import { findHighestNonce, listUnconfirmedTransactions } from '../stores/transaction-store.ts';
import { findFirstNonce } from './first-nonce.ts';

/**
 * Finds the next nonce to use, from the stored transactions. When somebody else has used the key, nonces are
 * skipped only after all of our transactions are confirmed and the foreign ones are final: a reorganisation that
 * removed a foreign transaction would otherwise leave a nonce gap that nobody fills. A count that is higher than ours
 * may also be that of another chain, or a lie: it is believed once the block at which it was first seen is final too.
 * @returns the nonce, or why there is none yet
 */
export async function nextNonce(context: LaneContext, head: Head): Promise<bigint | Pause> {
  const { db, lease, log, memory, node, signer } = context;
  const { address } = signer;
  const count = await node.transactionCount(address, 'latest');
  const highest = await findHighestNonce(db, lease);
  const ours = highest === undefined ? await findFirstNonce(context, head, count) : highest + 1n;
  if (typeof ours !== 'bigint') return ours;
  if (count <= ours) {
    memory.doubtedCount = undefined;
    return ours;
  }
  const isInFlight = (await listUnconfirmedTransactions(db, lease)).length > 0;
  if (!isInFlight && (await isConfirmed(context, head, count))) {
    log.warn({ ours: ours.toString(), next: count.toString() }, 'nonces skipped: somebody else used them');
    memory.doubtedCount = undefined;
    return count;
  }
  const detail = `Somebody else has used the key: ${count} transactions, of which we know up to ${ours}.`;
  return { reason: 'foreign_nonce', detail };
}

/**
 * Whether a transaction count is final, and was seen before at a block that has become final since, on the chain that
 * has this network's id.
 */
async function isConfirmed(
  { memory, network, node, signer }: LaneContext,
  head: Head,
  count: bigint,
): Promise<boolean> {
  const doubted = memory.doubtedCount;
  if (doubted === undefined || doubted.seen > count) {
    memory.doubtedCount = { seen: count, number: head.number, hash: head.hash };
    return false;
  }
  const finalized = await node.finalized(head, network.finalityDepth);
  if (finalized < doubted.number) return false;
  const [block, final, chainId] = await Promise.all([
    node.block(doubted.number),
    node.transactionCount(signer.address, finalized),
    node.chainId(),
  ]);
  if (block?.hash !== doubted.hash || chainId.toString() !== network.chainId) {
    // The first look was at another chain, or this one is.
    memory.doubtedCount = undefined;
    return false;
  }
  return final === count;
}
