import { raise } from '../../chain/minting/fees.ts';
import type { Head } from '../../chain/minting/mint-node.ts';
import type { Signed } from '../../chain/minting/signer.ts';
import { NodesUnavailableError } from '../../chain/rpc/node-fault.ts';
import { type ChainView, type Mined, viewChain } from './chain-view.ts';
import type { LaneContext } from './lane-context.ts';
import { LeaseLostError } from './lane-store.ts';
import { about, recheck, releaseIfLost, settle } from './settle.ts';
import { insertAttempt, type OpenTransaction, openTransactions, rawOf } from './transaction-store.ts';

/** Looks at every transaction that can still change, and does what the chain asks for. */
export async function watch(context: LaneContext, head: Head): Promise<void> {
  const open = await openTransactions(context.db, context.lease);
  if (open.length === 0) return;
  const view = await viewChain(context, head);
  const looks = await Promise.all(open.map((transaction) => look(context, view, transaction)));
  for (const { transaction, mined } of looks) {
    // A node that does not answer takes its time with each: whoever is told to stop does not wait for all.
    if (context.stopping.aborted) return;
    try {
      await act(context, view, transaction, mined);
    } catch (err) {
      // One that goes wrong by itself must not keep the others from being watched.
      if (err instanceof NodesUnavailableError || err instanceof LeaseLostError) throw err;
      context.log.error({ err, ...about(transaction) }, 'mint transaction cannot be watched');
    }
  }
}

type Look = { readonly transaction: OpenTransaction; readonly mined: Mined | null | undefined };

/** Asks what is needed, all side by side. `mined` is undefined where the nonce is not used yet, or that is unclear. */
async function look({ memory }: LaneContext, view: ChainView, transaction: OpenTransaction): Promise<Look> {
  if (transaction.confirmedIn !== null) {
    await view.block(transaction.confirmedIn.number);
    return { transaction, mined: undefined };
  }
  const isUsed = view.count > transaction.nonce || memory.suspects.delete(transaction.id);
  return { transaction, mined: isUsed ? await view.receiptOf(transaction) : undefined };
}

async function act(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  mined: Look['mined'],
) {
  if (transaction.confirmedIn !== null && (await recheck(context, view, transaction))) return;
  if (mined) return settle(context, view, transaction, mined);
  // It had a block and has none: nodes that dropped it get it again at once.
  if (context.memory.mined.delete(transaction.id)) context.memory.sentAt.delete(transaction.id);
  if (mined === null) await releaseIfLost(context, view, transaction);
  await sendAgain(context, view, transaction);
}

/** Hands a transaction without a block to the nodes again, with higher fees when it waits for too long. */
async function sendAgain(context: LaneContext, view: ChainView, transaction: OpenTransaction) {
  const { memory, now, settings } = context;
  const [newest] = transaction.attempts;
  const sentAt = memory.sentAt.get(transaction.id);
  const waited = view.head.number - newest.sentAtBlock;
  const isFirst = transaction.nonce === view.count;
  const isTooCheap = view.head.baseFee !== null && newest.fees.maxFeePerGas < view.head.baseFee;
  // What the nodes may not have is not too cheap: it goes out as it is before more is paid for it.
  if (sentAt !== undefined && waited >= BigInt(settings.stuckBlocks) && (isFirst || isTooCheap)) {
    if (await raiseFees(context, view, transaction)) return;
  }
  // Not sent by this process: whether it ever was, nobody knows.
  if (sentAt === undefined || now() - sentAt >= settings.rebroadcastMs) {
    await handOver(context, transaction, { hash: newest.hash, raw: await rawOf(context.db, newest.hash) });
    await context.step('rebroadcast', about(transaction));
  }
}

/** @returns false when the cap does not allow higher fees: then the same bytes go on */
async function raiseFees(context: LaneContext, view: ChainView, transaction: OpenTransaction) {
  const { db, lanes, lease, node, settings, signer, step } = context;
  const [newest] = transaction.attempts;
  const fees = raise(newest.fees, await node.market(view.head), settings.feeCap);
  if (fees === undefined) return false;
  const signed = await signer.signAgain(await rawOf(db, newest.hash), fees);
  const attempt = { signed, fees, sentAtBlock: view.head.number };
  await lanes.fenced(lease, (tx) =>
    insertAttempt(tx, lease, { ...attempt, transactionId: transaction.id, number: newest.number + 1 }),
  );
  const raised = { ...attempt, number: newest.number + 1, hash: signed.hash };
  const facts = about({ ...transaction, attempts: [raised] });
  await step('raise_stored', facts);
  await handOver(context, transaction, signed);
  await step('raise_sent', facts);
  return true;
}

/** Sends stored bytes. What the node makes of them changes nothing: the chain tells. */
export async function handOver(
  { log, memory, node, now }: LaneContext,
  transaction: Pick<OpenTransaction, 'id'>,
  { hash, raw }: Signed,
): Promise<void> {
  memory.sentAt.set(transaction.id, now());
  try {
    const answer = await node.broadcast(raw);
    if (answer === 'nonce_used') memory.suspects.add(transaction.id);
    if (answer === 'no_funds') memory.unpaid.add(transaction.id);
    else memory.unpaid.delete(transaction.id);
    const isPlain = answer === 'sent' || answer === 'known';
    log[isPlain ? 'debug' : 'warn']({ transaction: transaction.id, hash, answer }, 'mint transaction sent');
  } catch (err) {
    log.warn({ err, transaction: transaction.id, hash }, 'unknown whether a node has the mint transaction');
  }
}
