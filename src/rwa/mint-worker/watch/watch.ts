import type { Head } from '../../../chain/minting/mint-node.ts';
import { NodesUnavailableError } from '../../../chain/rpc/node-fault.ts';
import type { LaneContext } from '../lane-context.ts';
import { transactionFacts } from '../step-facts.ts';
import { LeaseLostError } from '../stores/lane-store.ts';
import { listOpenTransactions, type OpenTransaction } from '../stores/transaction-store.ts';
import { type ChainView, type Mined, viewChain } from './chain-view.ts';
import { rebroadcast } from './rebroadcast.ts';
import { recheck } from './recheck.ts';
import { releaseLost } from './release-lost.ts';
import { settle } from './settle.ts';

/** Checks every transaction that can still change against the chain, and advances or rebroadcasts it. */
export async function watch(context: LaneContext, head: Head): Promise<void> {
  const open = await listOpenTransactions(context.db, context.lease);
  if (open.length === 0) return;
  const view = await viewChain(context, head);
  const inspections = await Promise.all(open.map((transaction) => inspect(context, view, transaction)));
  for (const { transaction, mined } of inspections) {
    // With a node that does not answer each transaction takes its time: a lane that is to stop skips the rest.
    if (context.stopping.aborted) return;
    try {
      await advance(context, view, transaction, mined);
    } catch (err) {
      // The failure of one transaction must not keep the others from being watched.
      if (err instanceof NodesUnavailableError || err instanceof LeaseLostError) throw err;
      context.log.error({ err, ...transactionFacts(transaction) }, 'mint transaction cannot be watched');
    }
  }
}

type Inspection = {
  readonly transaction: OpenTransaction;
  /** null when its nonce is used but none of its attempts is mined; undefined when nothing is known. */
  readonly mined: Mined | null | undefined;
};

/** Reads what {@link advance} needs from the chain. Runs for all transactions in parallel. */
async function inspect(
  { memory }: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<Inspection> {
  if (transaction.confirmedIn !== null) {
    // Puts the block into the view, for the recheck.
    await view.block(transaction.confirmedIn.number);
    return { transaction, mined: undefined };
  }
  const isNonceUsed = view.count > transaction.nonce || memory.nonceUsed.delete(transaction.id);
  const mined = isNonceUsed ? await view.receiptOf(transaction) : undefined;
  return { transaction, mined };
}

async function advance(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  mined: Inspection['mined'],
): Promise<void> {
  const { memory } = context;
  const isStillConfirmed = await recheck(context, view, transaction);
  if (isStillConfirmed) return;
  if (mined) return settle(context, view, transaction, mined);
  // It was in a block and no longer is: nodes may have dropped it, so it is broadcast again at once.
  if (memory.mined.delete(transaction.id)) memory.broadcastAt.delete(transaction.id);
  if (mined === null) await releaseLost(context, view, transaction);
  await rebroadcast(context, view, transaction);
}
