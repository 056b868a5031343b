import type { Signed } from '../../chain/minting/signer.ts';
import type { LaneContext } from './lane-context.ts';

/**
 * Broadcasts a signed transaction that is stored already. The answer of the node only updates the lane's memory:
 * what becomes of the transaction is read from the chain. Does not reject when no node answers.
 */
export async function broadcast(
  { log, memory, node, now }: LaneContext,
  transactionId: string,
  { hash, raw }: Signed,
): Promise<void> {
  memory.broadcastAt.set(transactionId, now());
  try {
    const answer = await node.broadcast(raw);
    memory.answers.set(transactionId, answer);
    if (answer === 'nonce_used') memory.nonceUsed.add(transactionId);
    if (answer === 'no_funds') memory.underfunded.add(transactionId);
    else memory.underfunded.delete(transactionId);
    const isExpected = answer === 'sent' || answer === 'known';
    log[isExpected ? 'debug' : 'warn']({ transaction: transactionId, hash, answer }, 'mint transaction sent');
  } catch (err) {
    memory.answers.set(transactionId, `nothing: ${err instanceof Error ? err.message.slice(0, 200) : err}`);
    log.warn({ err, transaction: transactionId, hash }, 'unknown whether a node has the mint transaction');
  }
}
