import { hintOf, isSettled } from '../../../chain/minting/refusal.ts';
import { mostCostOf, type Signed } from '../../../chain/minting/signer.ts';
import { NodesUnavailableError } from '../../../chain/rpc/transport/node-fault.ts';
import { wordsOf } from './inquiry.ts';
import type { LaneContext } from './lane-context.ts';
import { memoryOf, type TransactionMemory } from './lane-memory.ts';

/**
 * Broadcasts a signed transaction that is stored already. The answer of the nodes only updates the lane's memory. The chain
 * shows what becomes of the transaction. The promise does not reject when no node answers.
 */
export async function broadcast(
  context: LaneContext,
  transactionId: string,
  { hash, raw }: Signed,
): Promise<void> {
  const { log, memory, node, now } = context;
  const known = memoryOf(memory, transactionId);
  known.broadcastAt = now();
  try {
    const { missing = 0, refused } = known;
    const { isTaken, words } = await node.broadcast(raw, { isDoubted: missing > 0 });
    known.answer = words || 'sent';
    if (hintOf(words).first === 'nonce') known.isNonceUsed = true;
    // Then receipts show it.
    const isKnown = isSettled(words);
    if (isTaken || isKnown) {
      known.refused = undefined;
      known.isUnderfunded = false;
    } else await noteRefusal(context, known, raw, words);
    const level = !isTaken && !isKnown && refused === undefined ? 'warn' : 'debug';
    log[level]({ transaction: transactionId, hash, isTaken, words }, 'mint transaction sent');
  } catch (err) {
    noteUnanswered(known, err);
    known.answer = `nothing: ${err instanceof Error ? err.message.slice(0, 200) : err}`;
    log.warn({ err, transaction: transactionId, hash }, 'unknown whether a node has the mint transaction');
  }
}

/** Counts a rejection, whatever the text. When the signer cannot pay for the transaction, its price is not to blame. */
async function noteRefusal(
  { node, signer }: LaneContext,
  known: TransactionMemory,
  raw: string,
  words: string,
): Promise<void> {
  const before = known.refused;
  known.isUnderfunded = (await node.balance(signer.address)) < mostCostOf(raw);
  known.refused = known.isUnderfunded
    ? undefined
    : { ...before, looks: (before?.looks ?? 0) + 1, words, isAnswer: true };
}

/** Notes that no node answered. A node that was not asked, since it failed before, says nothing new. */
function noteUnanswered(known: TransactionMemory, err: unknown): void {
  const isNew =
    err instanceof NodesUnavailableError &&
    err.attempts.some(({ reason }) => reason !== 'shut' && reason !== 'busy');
  if (isNew) known.refused = { looks: 0, ...known.refused, words: wordsOf(err), isAnswer: false };
}
