import { refusalOf } from '../../../chain/minting/broadcast-error.ts';
import type { Fees } from '../../../chain/minting/fees.ts';
import { readSigned, type Signed } from '../../../chain/minting/signer.ts';
import type { LaneContext } from './lane-context.ts';
import { learnLimits } from './node-limits.ts';

/**
 * Broadcasts a signed transaction that is stored already. The answer of the nodes only updates the lane's memory:
 * what becomes of the transaction is read from the chain. Does not reject when no node answers.
 */
export async function broadcast(
  context: LaneContext,
  transactionId: string,
  { hash, raw }: Signed,
  fees: Fees,
): Promise<void> {
  const { log, memory, node, now } = context;
  memory.broadcastAt.set(transactionId, now());
  try {
    const { outcome, words } = await node.broadcast(raw);
    memory.answers.set(transactionId, words || outcome);
    if (outcome === 'nonce_used') memory.nonceUsed.add(transactionId);
    if (outcome === 'no_funds') memory.underfunded.add(transactionId);
    else memory.underfunded.delete(transactionId);
    if (outcome === 'underpriced') memory.underpriced.set(transactionId, hash);
    else memory.underpriced.delete(transactionId);
    const isNews = noteRefusal(context, transactionId, { hash, raw }, fees, words);
    const isExpected = outcome === 'sent' || outcome === 'known' || !isNews;
    log[isExpected ? 'debug' : 'warn'](
      { transaction: transactionId, hash, answer: outcome, words },
      'mint transaction sent',
    );
  } catch (err) {
    memory.answers.set(transactionId, `nothing: ${err instanceof Error ? err.message.slice(0, 200) : err}`);
    log.warn({ err, transaction: transactionId, hash }, 'unknown whether a node has the mint transaction');
  }
}

/**
 * Remembers that nodes refuse a transaction for good, and what they take; or forgets it when they do not.
 * @returns false when the same was remembered already
 */
function noteRefusal(
  { memory, now }: LaneContext,
  transactionId: string,
  { hash, raw }: Signed,
  fees: Fees,
  words: string,
): boolean {
  const known = memory.refused.get(transactionId);
  const refusal = words === '' ? undefined : refusalOf(words);
  if (refusal === undefined) {
    memory.refused.delete(transactionId);
    return true;
  }
  const { gasLimit, mints } = readSigned(raw);
  memory.limits = learnLimits(memory.limits, refusal, { gasLimit, tokens: mints.length, fees }, now());
  memory.refused.set(transactionId, { hash, refusal, words });
  return known?.hash !== hash;
}
