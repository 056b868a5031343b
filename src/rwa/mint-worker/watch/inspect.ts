import { answersOthers, isOfNode } from '../context/inquiry.ts';
import type { Mined } from '../context/mined.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import type { Look } from './evidence/look.ts';
import { isDue, restBeforeRetry } from './evidence/retries.ts';
import { clearUnanswered, noteUnanswered } from './outcome/waiting.ts';

export type Inspection = {
  readonly transaction: OpenTransaction;
  /** null when its nonce is used but none of its attempts is mined; undefined when nothing is known. */
  readonly mined: Mined | null | undefined;
  /** False when the node refuses what is asked about this transaction: then it waits. */
  readonly isAnswered: boolean;
};

/** Reads from the chain what a transaction needs to be advanced. Runs for all transactions in parallel. */
export async function inspect(look: Look, transaction: OpenTransaction): Promise<Inspection> {
  const { context } = look;
  const { memory, node, stopping } = context;
  const { id } = transaction;
  if (transaction.confirmedIn !== null) return { transaction, mined: undefined, isAnswered: true };
  if (!isDue(context, id)) return { transaction, mined: undefined, isAnswered: false };
  try {
    const mined = await minedFor(look, transaction);
    if (memory.evidence.retries.delete(id)) await clearUnanswered(context, id);
    return { transaction, mined, isAnswered: true };
  } catch (err) {
    if (stopping.aborted || !isOfNode(err)) throw err;
    if (!(await answersOthers(node, err, stopping))) throw err;
    restBeforeRetry(context, id);
    await noteUnanswered(context, transaction, err);
    return { transaction, mined: undefined, isAnswered: false };
  }
}

async function minedFor(look: Look, transaction: OpenTransaction): Promise<Mined | null | undefined> {
  const { memory } = look.context;
  const { id, nonce } = transaction;
  const isNonceUsed = look.view.count > nonce || memory.nonceUsed.delete(id);
  if (!isNonceUsed) return undefined;
  const known = memory.mined.get(id);
  // Asked for again for the conclusion, so that it does not rest on an answer from long ago.
  if (known && look.hashOf(known.block.number) === known.block.hash && !(await isConcluded(look, known))) {
    return known;
  }
  return look.view.receiptOf(transaction);
}

/** Whether the block is deep enough to conclude what became of the transaction. */
async function isConcluded({ context, view }: Look, { block, receipt }: Mined): Promise<boolean> {
  if (!receipt.succeeded) return block.number <= (await view.finalized());
  return view.depthOf(block.number) >= BigInt(context.network.confirmations);
}
