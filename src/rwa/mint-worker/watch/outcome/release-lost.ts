import { transactionFacts } from '../../context/lane-context.ts';
import { noteSuccess } from '../../stores/contract-breaker-store.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { listOpenNfts, type TransactionNft } from '../../stores/transaction-nft-store.ts';
import type { Inclusion, OpenTransaction } from '../../stores/transaction-store.ts';
import { setUnproven } from '../../stores/unproven-store.ts';
import type { Look } from '../evidence/look.ts';
import { confirmTransaction, endLost } from './outcomes.ts';
import { type Proof, proveOutcomes } from './proof.ts';
import { noteLeftOut } from './retry-limit.ts';
import { forgetEndedRetries, hasNews, saveWaiting } from './waiting.ts';

/**
 * Settles a transaction whose receipts the node does not give, once the event of a mint in one of its attempts is final. Without
 * such an event nothing is concluded.
 */
export async function settleByEvent(look: Look, transaction: OpenTransaction): Promise<void> {
  if ((await look.finalCount()) <= transaction.nonce) return;
  const nfts = await listOpenNfts(look.context.db, transaction.id);
  await confirmByEvent(look, transaction, nfts, await proveOutcomes(look, transaction, nfts));
}

/** Confirms a transaction by the final event of a mint in one of its attempts. @returns whether there is one */
async function confirmByEvent(
  { context }: Look,
  transaction: OpenTransaction,
  nfts: readonly TransactionNft[],
  { outcomes: { minted }, waiting }: Proof,
): Promise<boolean> {
  const { db, lease, memory, step } = context;
  const { id, attempts } = transaction;
  const own = minted.find((mint) => attempts.some(({ hash }) => hash === mint.in.hash));
  if (own === undefined) return false;
  const waits = await inFencedTransaction(db, lease, async (tx) => {
    await noteLeftOut(tx, transaction, own.in.hash);
    const seconds = await confirmTransaction(tx, id, own.in, minted);
    await noteSuccess(tx, { chainId: lease.chainId, contract: transaction.contract });
    await saveWaiting(tx, nfts, waiting);
    return seconds;
  });
  memory.mined.delete(id);
  memory.evidence.retries.delete(id);
  forgetEndedRetries(context, nfts, waiting);
  await step('confirmed', { ...transactionFacts(transaction), block: own.in.blockNumber.toString(), waits });
  return true;
}

/**
 * Releases the NFTs of a transaction of which no attempt is mined, when another transaction used its nonce. Does
 * so only when that is final and it is proven that none of the NFTs was minted by this one; until then they keep
 * their nonce. NFTs of which nothing is proven wait without the others, once one is proven not to be minted by it.
 * @returns whether its nonce is used for good, so that it is not to be broadcast again
 */
export async function releaseLost(look: Look, transaction: OpenTransaction): Promise<boolean> {
  const { db, lease, memory, step } = look.context;
  const { id } = transaction;
  if ((await look.finalCount()) <= transaction.nonce) {
    memory.settling.add(id);
    return false;
  }
  const nfts = await listOpenNfts(db, id);
  const { outcomes, waiting } = await proveOutcomes(look, transaction, nfts);
  if (await confirmByEvent(look, transaction, nfts, { outcomes, waiting })) return true;
  if (waiting.length > 0 && waiting.length === nfts.length) {
    if (hasNews(waiting)) await inFencedTransaction(db, lease, (tx) => saveWaiting(tx, [], waiting));
    memory.mined.set(id, null);
    return true;
  }

  const own = await findOwnAttempt(look, transaction);
  if (own !== undefined) {
    const waits = await inFencedTransaction(db, lease, async (tx) => {
      await noteLeftOut(tx, transaction, own.hash);
      const seconds = await confirmTransaction(tx, id, own, outcomes.minted);
      await saveWaiting(tx, nfts, waiting);
      return seconds;
    });
    memory.mined.delete(id);
    forgetEndedRetries(look.context, nfts, waiting);
    await step('confirmed', { ...transactionFacts(transaction), block: own.blockNumber.toString(), waits });
    return true;
  }

  const waits = await inFencedTransaction(db, lease, async (tx) => {
    const seconds = await endLost(tx, id, outcomes);
    await saveWaiting(tx, nfts, waiting);
    if (waiting.length > 0) await setUnproven(tx, id, true);
    return seconds;
  });
  memory.refused.delete(id);
  memory.forgotten.delete(id);
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

/**
 * Finds the attempt that is in a final block although the node gives no receipt of it. It minted nothing: when it is
 * finalized, that counts as a failure of its contract.
 */
async function findOwnAttempt(
  { context: { node }, view }: Look,
  { attempts }: OpenTransaction,
): Promise<Inclusion | undefined> {
  for (const { hash } of attempts) {
    const place = await node.blockOf(hash);
    if (place === null || place.number > (await view.finalized())) continue;
    const block = await view.block(place.number);
    if (block?.hash === place.hash)
      return { hash, blockNumber: block.number, blockHash: block.hash, time: block.time, cost: null };
  }
  return undefined;
}
