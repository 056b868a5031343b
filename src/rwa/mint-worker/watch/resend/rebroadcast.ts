import { readSigned, SignerUnavailableError } from '../../../../chain/minting/signer.ts';
import { broadcast } from '../../context/broadcast.ts';
import { isOfNode } from '../../context/inquiry.ts';
import { attemptFacts, type LaneContext } from '../../context/lane-context.ts';
import { memoryOf } from '../../context/lane-memory.ts';
import { readRawAttempt } from '../../stores/attempt-store.ts';
import { listOpenNfts } from '../../stores/transaction-nft-store.ts';
import { listUnconfirmedTransactions, type OpenTransaction } from '../../stores/transaction-store.ts';
import type { Look } from '../evidence/look.ts';
import { planReplacement } from './plan.ts';
import { replace } from './replace.ts';

/**
 * Replaces a transaction without a block where there is a reason to. Otherwise it broadcasts the transaction again: at each
 * poll while nodes reject it, when a node lacks it, and from time to time.
 */
export async function rebroadcast(look: Look, transaction: OpenTransaction): Promise<void> {
  const { context, count } = look;
  const { memory, watchOnly } = context;
  const { id, nonce } = transaction;
  const known = memoryOf(memory, id);
  // Another transaction has the nonce: no price changes that.
  if (count > nonce) known.refused = undefined;
  // What nodes say of later nonces is about those before. The nonce that becomes the next is broadcast as it is first.
  if (count === nonce && known.isAhead && known.refused !== undefined) {
    known.refused = undefined;
    known.broadcastAt = undefined;
  }
  known.isAhead = count < nonce;
  await noteMissing(look, transaction);
  // A watched lane has no key. A key that has just failed is not asked again for each transaction.
  const maySign = !watchOnly && memory.signerFault === undefined && count <= nonce;
  if (maySign && (await isReplaced(look, transaction))) return;
  const { isUnderfunded = false, refused } = known;
  // A node that does not answer costs the time of all others: it is asked about the transaction that is next.
  const isPressing = isUnderfunded || (refused !== undefined && (refused.isAnswer || nonce === count));
  if (isPressing || isDue(context, id)) await sendAgain(context, transaction);
}

/** @returns false also when the signer does not sign */
async function isReplaced(look: Look, transaction: OpenTransaction): Promise<boolean> {
  try {
    const plan = await planReplacement(look, transaction);
    if (plan === undefined) return false;
    await replace(look, transaction, plan);
    return true;
  } catch (error) {
    if (error instanceof SignerUnavailableError) return false;
    throw error;
  }
}

/**
 * Broadcasts again what is due, as it is. That asks the chain nothing and is safe whatever it is like: the same bytes
 * mint once.
 */
export async function rebroadcastStored(context: LaneContext): Promise<void> {
  const { db, lease, stopping } = context;
  for (const transaction of await listUnconfirmedTransactions(db, lease)) {
    if (stopping.aborted) return;
    if (isDue(context, transaction.id)) await sendAgain(context, transaction);
  }
}

function isDue({ memory, now, settings }: LaneContext, id: string): boolean {
  const broadcastAt = memory.transactions.get(id)?.broadcastAt;
  return broadcastAt === undefined || now() - broadcastAt >= settings.rebroadcastMs;
}

async function sendAgain(context: LaneContext, transaction: OpenTransaction): Promise<void> {
  const [newest] = transaction.attempts;
  const raw = await readRawAttempt(context.db, newest.hash);
  if (transaction.hasEnded && (await mintsEnded(context, transaction, raw))) return;
  await broadcast(context, transaction.id, { hash: newest.hash, raw });
  await context.step('rebroadcast', attemptFacts(transaction, newest));
}

/** Whether these bytes mint an NFT that has ended. They wait for those that replace them. */
async function mintsEnded({ db }: LaneContext, { id }: OpenTransaction, raw: string): Promise<boolean> {
  const open = await listOpenNfts(db, id);
  const wanted = new Set(open.flatMap(({ hasEnded, tokenId }) => (hasEnded ? [] : [tokenId])));
  return readSigned(raw).mints.some(({ tokenId }) => !wanted.has(tokenId));
}

/**
 * Notes whether the node lacks the transaction that the chain takes next, when it has waited for `MINT_STUCK_BLOCKS`: nodes drop
 * what waits, and some say that they take it and do not. Then all transactions are broadcast again, in the order of their nonces.
 */
async function noteMissing(
  { context, head, count }: Look,
  { id, nonce, attempts: [newest] }: OpenTransaction,
): Promise<void> {
  const { memory, node, settings } = context;
  const known = memoryOf(memory, id);
  if (known.broadcastAt === undefined || known.refused !== undefined) return;
  const hasWaited = nonce === count && head.number - newest.sentAtBlock >= BigInt(settings.stuckBlocks);
  const isMissing = hasWaited && (await lacks(node, newest.hash));
  known.missing = isMissing ? (known.missing ?? 0) + 1 : 0;
  if (known.missing === 1) for (const each of memory.transactions.values()) each.broadcastAt = undefined;
}

/** Whether the node says that it does not have a transaction. A node that does not answer may have it. */
async function lacks(node: LaneContext['node'], hash: string): Promise<boolean> {
  try {
    return (await node.transaction(hash)) === null;
  } catch (error) {
    if (isOfNode(error)) return false;
    throw error;
  }
}
