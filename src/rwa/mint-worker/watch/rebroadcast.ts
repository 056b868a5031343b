import { raise } from '../../../chain/minting/fees.ts';
import { SignerUnavailableError } from '../../../chain/minting/signer.ts';
import { broadcast } from '../broadcast.ts';
import type { LaneContext } from '../lane-context.ts';
import { marketAt } from '../market.ts';
import { attemptFacts, transactionFacts } from '../step-facts.ts';
import { insertAttempt, readRawAttempt } from '../stores/attempt-store.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { listUnconfirmedTransactions, type OpenTransaction } from '../stores/transaction-store.ts';
import type { ChainView } from './chain-view.ts';
import { isForgotten } from './forgotten.ts';
import { leaveOut, resign } from './resign.ts';

/**
 * Broadcasts a transaction without a block again when it is time to, or a node has forgotten it: within what nodes take
 * when they refused it, with higher fees when the market asks for more than it offers, and otherwise as it is.
 */
export async function rebroadcast(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<void> {
  const { memory, watchOnly } = context;
  // What the node has forgotten goes again, in the order of nonces, as transactions are watched.
  if (await isForgotten(context, view, transaction)) memory.broadcastAt.clear();
  // Without the lane's key nothing can be signed, and one that has just failed is not waited for once more for each transaction.
  const maySign = !watchOnly && memory.signerFault === undefined;
  if (maySign && (await signAnew(context, view, transaction))) return;
  await rebroadcastAsItIs(context, transaction);
}

/** Replaces the transaction where there is a reason to. @returns whether it did; never when the signer does not sign */
async function signAnew(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<boolean> {
  const { memory } = context;
  const [newest] = transaction.attempts;
  // Unknown when this process has not broadcast it: then perhaps nobody has.
  const broadcastAt = memory.broadcastAt.get(transaction.id);
  try {
    if (await leaveOut(context, view, transaction)) return true;
    if (memory.refused.get(transaction.id)?.hash === newest.hash) {
      return await resign(context, view, transaction);
    }
    // A transaction that nodes may not have is not stuck: it is broadcast as it is before its fees are raised.
    if (broadcastAt === undefined || !isStuck(context, view, transaction)) return false;
    return await replace(context, view, transaction);
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
    await rebroadcastAsItIs(context, transaction);
  }
}

async function rebroadcastAsItIs(context: LaneContext, transaction: OpenTransaction): Promise<void> {
  const { db, memory, now, settings, step } = context;
  const [newest] = transaction.attempts;
  const broadcastAt = memory.broadcastAt.get(transaction.id);
  if (broadcastAt !== undefined && now() - broadcastAt < settings.rebroadcastMs) return;
  const raw = await readRawAttempt(db, newest.hash);
  await broadcast(context, transaction.id, { hash: newest.hash, raw }, newest.fees);
  await step('rebroadcast', transactionFacts(transaction));
}

/** Whether the transaction has been without a block for so long that its fees may be to blame. */
function isStuck({ settings }: LaneContext, view: ChainView, transaction: OpenTransaction): boolean {
  const [newest] = transaction.attempts;
  const { baseFee } = view.head;
  const blocksWaited = view.head.number - newest.sentAtBlock;
  const isNext = transaction.nonce === view.count;
  const isBelowBaseFee = baseFee !== null && newest.fees.maxFeePerGas < baseFee;
  return blocksWaited >= BigInt(settings.stuckBlocks) && (isNext || isBelowBaseFee);
}

/**
 * Replaces a transaction by one with the same nonce and higher fees.
 * @returns false when the market does not ask for more, or the fee cap does not allow it; then nothing has changed
 */
async function replace(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<boolean> {
  const { db, lease, settings, signer, step } = context;
  const [newest] = transaction.attempts;
  const market = await marketAt(context, view.head);
  const fees = raise(newest.fees, market, settings.feeCap);
  if (fees === undefined) return false;

  const signed = await signer.signAgain(await readRawAttempt(db, newest.hash), fees);
  const number = newest.number + 1;
  await inFencedTransaction(db, lease, (tx) =>
    insertAttempt(tx, lease, {
      transactionId: transaction.id,
      number,
      signed,
      fees,
      sentAtBlock: view.head.number,
    }),
  );
  const facts = attemptFacts(transaction, { number, hash: signed.hash, fees });
  await step('raise_stored', facts);
  await broadcast(context, transaction.id, signed, fees);
  await step('raise_sent', facts);
  return true;
}
