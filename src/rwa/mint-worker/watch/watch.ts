import type { Head } from '../../../chain/minting/mint-node.ts';
import { answersOthers, isOfNode } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { forgetOthers } from '../context/lane-memory.ts';
import { transactionFacts } from '../context/step-facts.ts';
import { LeaseLostError } from '../stores/lane-store.ts';
import { listOpenTransactions } from '../stores/transaction-store.ts';
import { viewChain } from './evidence/chain-view.ts';
import type { Look } from './evidence/look.ts';
import { type Inspection, inspect } from './inspect.ts';
import { lookAtChain } from './look-at-chain.ts';
import { recheck } from './outcome/recheck.ts';
import { releaseLost, settleByEvent } from './outcome/release-lost.ts';
import { settle } from './outcome/settle.ts';
import { settleUnproven } from './outcome/settle-unproven.ts';
import { noteUnanswered } from './outcome/waiting.ts';
import { rebroadcast } from './resend/rebroadcast.ts';

/**
 * Checks every transaction that can still change against the chain, and advances or rebroadcasts it. A question that
 * the node refuses makes the transaction or the NFT wait that it is about; the others go on.
 *
 * The questions of one call, but for broadcasts, are at most:
 * - three of the chain (transactions of the signer, in the newest and in final blocks; the newest final block);
 * - one header for each block since the last call, or for each block that a transaction depends on, where those are
 *   fewer, and one more ({@link lookAtChain});
 * - for each transaction whose nonce has been used since the last call, the receipts of its attempts and a header;
 *   again when it is confirmed, and in every call while none of its receipts is there, which happens to no more
 *   transactions than may be in flight;
 * - whether the node has the transaction that the chain takes next ({@link isForgotten});
 * - a bounded number for evidence, whatever the number of NFTs (`createInquiry`).
 *
 * So they do not grow with the number of transactions that wait for their blocks to become final.
 * @throws when the node answers nothing any more, or another process holds the lane
 */
export async function watch(context: LaneContext, head: Head): Promise<void> {
  const { db, lease, stopping } = context;
  try {
    const open = await listOpenTransactions(db, lease);
    forgetOthers(context.memory, new Set(open.map(({ id }) => id)));
    const look = await lookAtChain(context, await viewChain(context, head), open);
    const inspections = await Promise.all(open.map((transaction) => inspect(look, transaction)));
    for (const inspection of inspections) {
      // With a node that does not answer each transaction takes its time: a lane that is to stop skips the rest.
      if (stopping.aborted) return;
      await advanceAlone(look, inspection);
    }
    await settleUnproven(look);
  } catch (error) {
    // Questions for evidence end at once then; the next holder of the lane asks them again.
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
  const { context, view } = look;
  const { memory } = context;
  const isStillConfirmed = await recheck(look, transaction);
  if (isStillConfirmed) return;
  if (!isAnswered) return settleByEvent(look, transaction);
  if (mined) return settle(look, transaction, mined);
  // It was in a block and no longer is: nodes may have dropped it, so it is broadcast again at once.
  if (memory.mined.delete(transaction.id)) memory.broadcastAt.delete(transaction.id);
  if (mined === null && (await releaseLost(look, transaction))) return;
  await rebroadcast(context, view, transaction);
}
