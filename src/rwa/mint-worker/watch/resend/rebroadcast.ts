import { raise } from '../../../../chain/minting/fees.ts';
import { SignerUnavailableError } from '../../../../chain/minting/signer.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import { marketAt } from '../../context/market.ts';
import { listUnconfirmedTransactions, type OpenTransaction } from '../../stores/transaction-store.ts';
import type { ChainView } from '../evidence/chain-view.ts';
import { isForgotten } from '../evidence/forgotten.ts';
import { outbid } from './outbid.ts';
import { rebroadcastAttempt } from './rebroadcast-attempt.ts';
import { leaveOut, resign } from './resign.ts';
import { sendRaised } from './send-raised.ts';

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
  await rebroadcastAttempt(context, transaction, transaction.attempts[0]);
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
    if (await outbid(context, view, transaction)) return true;
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
    await rebroadcastAttempt(context, transaction, transaction.attempts[0]);
  }
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
  const market = await marketAt(context, view.head);
  const fees = raise(transaction.attempts[0].fees, market, context.settings.feeCap);
  return fees !== undefined && sendRaised(context, view, transaction, fees);
}
