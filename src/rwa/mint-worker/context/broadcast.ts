import { hintOf, isSettled } from '../../../chain/minting/refusal.ts';
import { mostCostOf, type Signed } from '../../../chain/minting/signer.ts';
import type { LaneContext } from './lane-context.ts';
import { learn } from './market.ts';

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
  memory.broadcastAt.set(transactionId, now());
  try {
    const { isTaken, words } = await node.broadcast(raw, { isDoubted: memory.forgotten.has(transactionId) });
    memory.answers.set(transactionId, words || 'sent');
    if (hintOf(words).first === 'nonce') memory.nonceUsed.add(transactionId);
    const forgotten = memory.forgotten.get(transactionId);
    const isNews = !memory.refused.has(transactionId);
    if (isTaken) {
      if (forgotten !== undefined) forgotten.isTaken = true;
      const { raisedTo: tip } = memory.refused.get(transactionId) ?? {};
      // So that the next transactions begin with this tip.
      if (tip !== undefined) learn(context, { tip });
    }
    // Then receipts show it, unless it has waited for long and the node does not have it.
    const isKnown = isSettled(words) && forgotten?.isTaken !== false;
    if (isTaken || isKnown) {
      memory.refused.delete(transactionId);
      memory.underfunded.delete(transactionId);
    } else await noteRefusal(context, transactionId, raw, words);
    const level = !isTaken && !isKnown && isNews ? 'warn' : 'debug';
    log[level]({ transaction: transactionId, hash, isTaken, words }, 'mint transaction sent');
  } catch (err) {
    memory.answers.set(transactionId, `nothing: ${err instanceof Error ? err.message.slice(0, 200) : err}`);
    log.warn({ err, transaction: transactionId, hash }, 'unknown whether a node has the mint transaction');
  }
}

/** Counts a rejection, whatever the text. When the signer cannot pay for the transaction, its price is not to blame. */
async function noteRefusal(
  { memory, node, signer }: LaneContext,
  transactionId: string,
  raw: string,
  words: string,
): Promise<void> {
  const before = memory.refused.get(transactionId);
  const isUnderfunded = (await node.balance(signer.address)) < mostCostOf(raw);
  if (isUnderfunded) {
    memory.underfunded.add(transactionId);
    memory.refused.delete(transactionId);
  } else {
    memory.underfunded.delete(transactionId);
    memory.refused.set(transactionId, { ...before, looks: (before?.looks ?? 0) + 1, words });
  }
}
