import { transactionFacts } from '../../context/lane-context.ts';
import { noteFailure } from '../../stores/contract-breaker-store.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { listOpenNfts } from '../../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import { setUnproven } from '../../stores/unproven-store.ts';
import type { Look } from '../evidence/look.ts';
import { finalizeTransaction, unconfirmTransaction } from './outcomes.ts';
import { proveOutcomes } from './proof.ts';
import { applyRetryLimit, passedOver } from './retry-limit.ts';
import { forgetEndedRetries, saveWaiting } from './waiting.ts';

/**
 * Checks that a confirmed transaction is still in the chain, and finalizes it once its block is final.
 * @returns false when it is not confirmed: it never was, or a reorganisation has replaced a block that it needs,
 *   and it is in flight again
 */
export async function recheck(look: Look, transaction: OpenTransaction): Promise<boolean> {
  const { confirmedIn, foundIn } = transaction;
  if (confirmedIn === null) return false;
  for (const expected of [confirmedIn, ...foundIn]) {
    const hash = look.hashOf(expected.number);
    // The chain is shorter than before, so the node may lag: wait until it has the block.
    if (hash === undefined) return true;
    if (hash !== expected.hash) {
      await unconfirm(look, transaction);
      return false;
    }
  }
  if (confirmedIn.number <= (await look.view.finalized())) await finalize(look, transaction);
  return true;
}

async function unconfirm({ context }: Look, transaction: OpenTransaction): Promise<void> {
  const { db, lease, memory, step } = context;
  const unminted = await inFencedTransaction(db, lease, (tx) => unconfirmTransaction(tx, transaction.id));
  memory.broadcastAt.delete(transaction.id);
  await step('reorganised', { ...transactionFacts(transaction), unminted });
}

/** NFTs that it did not mint, and whose outcome cannot be proven yet, wait without it. */
async function finalize(look: Look, transaction: OpenTransaction): Promise<void> {
  const { db, lease, log, step } = look.context;
  const { id } = transaction;
  const [newest] = transaction.attempts;
  const open = await listOpenNfts(db, id);
  const unminted = open.filter(({ isMinted }) => !isMinted);
  const { outcomes: proven, waiting } = await proveOutcomes(look, transaction, unminted);

  const { outcomes, waits } = await inFencedTransaction(db, lease, async (tx) => {
    const limited = await applyRetryLimit(tx, id, proven, passedOver(newest.hash));
    const hasMinted = open.some(({ isMinted }) => isMinted) || proven.minted.length > 0;
    if (open.length > 0 && !hasMinted)
      await noteFailure(tx, { chainId: lease.chainId, contract: transaction.contract });
    const seconds = await finalizeTransaction(tx, id, limited);
    await saveWaiting(tx, open, waiting);
    if (waiting.length > 0) await setUnproven(tx, id, true);
    return { outcomes: limited, waits: seconds };
  });
  forgetEndedRetries(look.context, open, waiting);
  for (const failure of outcomes.failed) log.error(failure, 'mint failed');
  await step('finalized', {
    ...transactionFacts(transaction),
    waits,
    failed: outcomes.failed.length,
    released: outcomes.released.length,
  });
}
