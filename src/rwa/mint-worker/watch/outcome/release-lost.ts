import { transactionFacts } from '../../context/step-facts.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { listOpenNfts } from '../../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import { setUnproven } from '../../stores/unproven-store.ts';
import type { Look } from '../evidence/look.ts';
import { endLost } from './outcomes.ts';
import { proveOutcomes } from './proof.ts';
import { forgetEndedRetries, hasNews, saveWaiting } from './waiting.ts';

/**
 * Releases the NFTs of a transaction of which no attempt is mined, when another transaction used its nonce. Does
 * so only when that is final and it is proven that none of the NFTs was minted by this one; until then they keep
 * their nonce. NFTs of which nothing is proven wait without the others, once one is proven not to be minted by it.
 * @returns whether its nonce is used for good, so that it is not to be broadcast again
 */
export async function releaseLost(look: Look, transaction: OpenTransaction): Promise<boolean> {
  const { db, lease, memory, step } = look.context;
  const { id } = transaction;
  if ((await look.finalCount()) <= transaction.nonce) return false;
  const nfts = await listOpenNfts(db, id);
  const { outcomes, waiting } = await proveOutcomes(look, transaction, nfts);
  // A mint in one of our attempts means that its receipt is late and that nobody else used the nonce.
  const ownHashes = new Set(transaction.attempts.map(({ hash }) => hash));
  if (outcomes.minted.some((mint) => ownHashes.has(mint.in.hash))) return false;
  if (waiting.length > 0 && waiting.length === nfts.length) {
    if (hasNews(waiting)) await inFencedTransaction(db, lease, (tx) => saveWaiting(tx, [], waiting));
    memory.mined.set(id, null);
    return true;
  }

  const waits = await inFencedTransaction(db, lease, async (tx) => {
    const seconds = await endLost(tx, id, outcomes);
    await saveWaiting(tx, nfts, waiting);
    if (waiting.length > 0) await setUnproven(tx, id, true);
    return seconds;
  });
  memory.refused.delete(id);
  memory.broadcastAt.delete(id);
  memory.underfunded.delete(id);
  forgetEndedRetries(look.context, nfts, waiting);
  await step('released', {
    ...transactionFacts(transaction),
    waits,
    failed: outcomes.failed.length,
    released: outcomes.released.length,
  });
  return true;
}
