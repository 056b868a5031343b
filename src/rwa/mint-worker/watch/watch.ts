import type { Head } from '../../../chain/minting/mint-node.ts';
import { answersOthers, DistrustError, isOfNode } from '../context/inquiry.ts';
import { type LaneContext, transactionFacts } from '../context/lane-context.ts';
import { beginLook, type Mined, memoryOf } from '../context/lane-memory.ts';
import { endRest, isResting, rest } from '../context/rests.ts';
import { LeaseLostError } from '../stores/lane-store.ts';
import { listOpenTransactions, type OpenTransaction } from '../stores/transaction-store.ts';
import { type Look, lookAtChain } from './evidence/look.ts';
import { recheck } from './outcome/recheck.ts';
import { releaseLost, settleByEvent } from './outcome/release-lost.ts';
import { settle } from './outcome/settle.ts';
import { settleUnproven } from './outcome/settle-unproven.ts';
import { clearUnanswered, noteUnanswered } from './outcome/waiting.ts';
import { rebroadcast } from './resend/rebroadcast.ts';

/**
 * Checks every transaction that can still change against the chain, and advances or rebroadcasts it. When the node does not
 * answer a question, only the transaction or NFT of the question waits.
 *
 * The questions of one call, but for broadcasts, are at most:
 * - three of the chain (transactions of the signer, in the newest and in final blocks; the newest final block);
 * - two headers, and one for each block that a transaction depends on since the last call ({@link lookAtChain}); a few more
 *   after a reorganisation;
 * - for each transaction whose nonce has been used since the last call, the receipts of its attempts and a header;
 *   again when it is confirmed, and in every call while none of its receipts is there, which happens to no more
 *   transactions than may be in flight;
 * - whether the node has the transaction that the chain takes next, once that has waited for long;
 * - a bounded number for evidence, whatever the number of NFTs (`createInquiry`).
 *
 * So their number does not depend on how many transactions wait for their blocks to become final.
 * @throws when the node answers nothing any more, or another process owns the lane
 */
export async function watch(context: LaneContext, head: Head): Promise<void> {
  const { db, lease, stopping } = context;
  try {
    const open = await listOpenTransactions(db, lease);
    beginLook(context.memory, new Set(open.map(({ id }) => id)));
    const look = await lookAtChain(context, head, open);
    const inspections = await Promise.all(open.map((transaction) => inspect(look, transaction)));
    for (const inspection of inspections) {
      // With a silent node each transaction takes long. A lane that is to stop skips the rest.
      if (stopping.aborted) return;
      await advanceAlone(look, inspection);
    }
    await settleUnproven(look);
  } catch (error) {
    // Questions for evidence end at once then. The next owner of the lane asks them again.
    if (!stopping.aborted) throw error;
  }
}

/** Advances a transaction. A failure of one must not keep the others from being watched. */
async function advanceAlone(look: Look, inspection: Inspection): Promise<void> {
  const { context } = look;
  const { transaction } = inspection;
  try {
    await advance(look, inspection);
  } catch (err) {
    if (err instanceof LeaseLostError || context.stopping.aborted) throw err;
    if (!isOfNode(err)) {
      context.log.error({ err, ...transactionFacts(transaction) }, 'mint transaction cannot be watched');
    } else if (await answersOthers(context.node, err, context.stopping)) {
      await noteUnanswered(context, transaction, err);
    } else throw err;
  }
}

async function advance(look: Look, { transaction, mined, isAnswered }: Inspection): Promise<void> {
  const { memory } = look.context;
  const isStillConfirmed = await recheck(look, transaction);
  if (isStillConfirmed) return;
  if (!isAnswered) return settleByEvent(look, transaction);
  if (mined) return settle(look, transaction, mined);
  // It has left its block. Nodes may have dropped it, so it is broadcast again at once.
  const known = memoryOf(memory, transaction.id);
  if (known.mined !== undefined) {
    known.mined = undefined;
    known.broadcastAt = undefined;
  }
  if (mined === null && (await releaseLost(look, transaction))) return;
  await rebroadcast(look, transaction);
}

type Inspection = {
  readonly transaction: OpenTransaction;
  /** null when its nonce is used but none of its attempts is mined; undefined when nothing is known. */
  readonly mined: Mined | null | undefined;
  /** False when the node does not answer what is asked about this transaction, or nothing that can be true. Then it waits. */
  readonly isAnswered: boolean;
};

/** Reads from the chain what a transaction needs to be advanced. Runs for all transactions in parallel. */
async function inspect(look: Look, transaction: OpenTransaction): Promise<Inspection> {
  const { context } = look;
  const { node, stopping } = context;
  const { id } = transaction;
  if (transaction.confirmedIn !== null) return { transaction, mined: undefined, isAnswered: true };
  if (isResting(context, 'proof', id)) return { transaction, mined: undefined, isAnswered: false };
  try {
    const mined = await minedFor(look, transaction);
    if (endRest(context, 'proof', id)) await clearUnanswered(context, id);
    return { transaction, mined, isAnswered: true };
  } catch (err) {
    if (stopping.aborted || !isOfNode(err)) throw err;
    if (!(await answersOthers(node, err, stopping))) throw err;
    rest(context, 'proof', id);
    await noteUnanswered(context, transaction, err);
    return { transaction, mined: undefined, isAnswered: false };
  }
}

async function minedFor(look: Look, transaction: OpenTransaction): Promise<Mined | null | undefined> {
  const { id, nonce } = transaction;
  const known = memoryOf(look.context.memory, id);
  const isNonceUsed = look.count > nonce || known.isNonceUsed === true;
  known.isNonceUsed = false;
  if (!isNonceUsed) return undefined;
  const { mined } = known;
  // Asked again before a conclusion, which must not rest on an old answer.
  if (mined && look.hashOf(mined.block.number) === mined.block.hash && !(await isConcluded(look, mined))) {
    return mined;
  }
  const found = await look.receiptOf(transaction);
  // A block that would have the receipt does not come any more. Then only the event of a mint shows what became of it.
  if (found === undefined && (await look.finalCount()) > nonce)
    throw new DistrustError('it shows a receipt of a block that is not in its chain');
  return found;
}

/** Whether the block is deep enough to conclude what became of the transaction. */
async function isConcluded(look: Look, { block, receipt }: Mined): Promise<boolean> {
  if (!receipt.succeeded) return block.number <= look.finalized;
  return look.depthOf(block.number) >= BigInt(look.context.network.confirmations);
}
