import type { Head } from '../../../chain/minting/mint-node.ts';
import { isOfNode } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { listRested } from '../context/rests.ts';
import { isSeenTwice } from '../context/second-look.ts';
import type { Pause } from '../stores/lane-store.ts';
import { listOpenNfts } from '../stores/transaction-nft-store.ts';
import {
  findHighestNonce,
  listUnconfirmedTransactions,
  type OpenTransaction,
} from '../stores/transaction-store.ts';

const countAbove = 'count above ours';
const countOfNewLane = 'count of a new lane';

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
    memory.firstLooks.delete(countAbove);
    return ours;
  }
  const [first] = await listUnconfirmedTransactions(db, lease);
  if (
    first === undefined &&
    (await isSeenTwice(context, countAbove, count.toString(), head)) &&
    (await node.transactionCount(address, node.finalized)) === count &&
    isComparedSince(context, countAbove)
  ) {
    log.warn({ ours: ours.toString(), next: count.toString() }, 'nonces skipped: somebody else used them');
    memory.firstLooks.delete(countAbove);
    return count;
  }
  const detail = `Somebody else has used the key: ${count} transactions, of which we know up to ${ours}.`;
  return first === undefined ? { reason: 'foreign_nonce', detail } : pauseBehind(context, first, detail);
}

/**
 * Why a lane behind foreign nonces waits for a transaction of its own: what keeps that transaction from its end, where a reason
 * is known. What follows it in the queue names the same remedy then.
 */
async function pauseBehind(
  context: LaneContext,
  { id, nonce }: OpenTransaction,
  detail: string,
): Promise<Pause> {
  const nfts = await listOpenNfts(context.db, id);
  const note = nfts.find((nft) => nft.note !== null)?.note;
  if (note) return note;
  const behind = `${detail} Our transaction with nonce ${nonce} must end first`;
  // A report of changed metadata has no NFT whose note could say so.
  if (listRested(context, 'proof').includes(id))
    return {
      reason: 'evidence_unavailable',
      detail: `${behind}, and the node does not show what became of it.`,
    };
  return { reason: 'foreign_nonce', detail: `${behind}.` };
}

/**
 * Finds the first nonce of a lane that has stored none. It continues with what is mined, whoever sent that. A count
 * above 0 may be wrong or that of another chain, and then what is signed is never mined. So the final block must have the
 * same count. Where the node does not show that, a poll must see the count again once the block of the first poll is final.
 * @param count of the transactions in blocks, asked before
 * @returns the nonce, or why there is none yet
 * @throws Error when the node serves another chain
 */
async function findFirstNonce(context: LaneContext, head: Head, count: bigint): Promise<bigint | Pause> {
  const { network, node } = context;
  const chainId = await node.chainId();
  if (chainId.toString() !== network.chainId) {
    throw new Error(`A node of network ${network.chainId} serves network ${chainId}.`);
  }
  if (count === 0n || (await isBelievable(context, head, count))) return count;
  const detail = `The key was used before: ${count} transactions are in blocks, and not known to be final.`;
  return { reason: 'foreign_nonce', detail };
}

async function isBelievable(context: LaneContext, head: Head, count: bigint): Promise<boolean> {
  const final = await finalCountOf(context);
  if (final === count) {
    const isCompared = isComparedSince(context, countOfNewLane);
    // What the signer has sent is final, so the comparison that begins now reaches it. Some chains make no newer block.
    if (!isCompared) context.memory.firstLooks.delete(countOfNewLane);
    return isCompared;
  }
  const isSeen = await isSeenTwice(context, countOfNewLane, count.toString(), head);
  return final === undefined && isSeen && isComparedSince(context, countOfNewLane);
}

/**
 * Whether contracts are compared up to the block in which the count of a subject was first seen. If they are not, they are compared
 * again before anything is sent: a restored database may lack what the signer sent there.
 */
function isComparedSince({ memory: { compared, firstLooks }, node }: LaneContext, subject: string): boolean {
  const seenAt = firstLooks.get(subject)?.number;
  if (seenAt === undefined || compared.to === undefined || seenAt <= compared.to) return true;
  compared.contracts.clear();
  compared.to = node.finalized;
  return false;
}

/**
 * Asks how many transactions the signer has in final blocks.
 * @returns undefined when no block is known to be final, or the node does not keep the state of that block
 */
export async function finalCountOf({ node, signer }: LaneContext): Promise<bigint | undefined> {
  if (node.finalized < 0n) return undefined;
  try {
    return await node.transactionCount(signer.address, node.finalized);
  } catch (error) {
    if (isOfNode(error)) return undefined;
    throw error;
  }
}
