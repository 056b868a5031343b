import type { LaneContext } from '../lane-context.ts';
import { transactionFacts } from '../step-facts.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { listOpenNfts } from '../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import { unfitContract } from '../unfit-contract.ts';
import type { ChainView } from './chain-view.ts';
import { proveOutcomes } from './evidence.ts';
import { finalizeTransaction, unconfirmTransaction } from './outcomes.ts';
import { applyRetryLimit, maxFailedAttempts } from './retry-limit.ts';

/**
 * Checks that a confirmed transaction is still in the chain, and finalizes it once its block is final.
 * @returns false when it is not confirmed: it never was, or a reorganisation has replaced a block that it needs,
 *   and it is in flight again
 */
export async function recheck(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<boolean> {
  const { confirmedIn, foundIn } = transaction;
  if (confirmedIn === null) return false;
  for (const expected of [confirmedIn, ...foundIn]) {
    const block = await view.block(expected.number);
    // A chain that is shorter than before may be that of a node that lags: wait until it has the block.
    if (block === null) return true;
    if (block.hash !== expected.hash) {
      await unconfirm(context, transaction);
      return false;
    }
  }
  if (confirmedIn.number <= (await view.finalized())) await finalize(context, view, transaction);
  return true;
}

async function unconfirm(
  { db, lease, memory, step }: LaneContext,
  transaction: OpenTransaction,
): Promise<void> {
  const unminted = await inFencedTransaction(db, lease, (tx) => unconfirmTransaction(tx, transaction.id));
  memory.broadcastAt.delete(transaction.id);
  await step('reorganised', { ...transactionFacts(transaction), unminted });
}

async function finalize(context: LaneContext, view: ChainView, transaction: OpenTransaction): Promise<void> {
  const { db, lease, log, step } = context;
  const [newest] = transaction.attempts;
  const open = await listOpenNfts(db, transaction.id);
  const unminted = open.filter(({ isMinted }) => !isMinted);
  const unfit =
    unminted.length > 0
      ? await unfitContract(context, transaction.contract, await view.finalized())
      : undefined;
  if (unfit === 'doubted') return;
  const proven =
    unfit === undefined
      ? await proveOutcomes(context, view, transaction, unminted)
      : { minted: [], failed: unminted.map(({ nftId }) => ({ nftId, reason: unfit })), released: [] };
  if (proven === undefined) return;

  // Our contract skips a token only when it has an owner; other contracts may have other reasons.
  const reason = `The contract passed the mint over ${maxFailedAttempts} times, last in transaction ${newest.hash}.`;
  const { outcomes, waits } = await inFencedTransaction(db, lease, async (tx) => {
    const limited = await applyRetryLimit(tx, proven, reason);
    return { outcomes: limited, waits: await finalizeTransaction(tx, transaction.id, limited) };
  });
  if (unfit !== undefined) context.memory.costs.delete(transaction.contract);
  for (const failure of outcomes.failed) log.error(failure, 'mint failed');
  await step('finalized', {
    ...transactionFacts(transaction),
    waits,
    failed: outcomes.failed.length,
    released: outcomes.released.length,
  });
}
