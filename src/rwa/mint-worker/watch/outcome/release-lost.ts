import { transactionFacts } from '../../context/lane-context.ts';
import { memoryOf } from '../../context/lane-memory.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { makeDueAgain } from '../../stores/refresh-store.ts';
import { listOpenNfts, type TransactionNft } from '../../stores/transaction-nft-store.ts';
import { type Inclusion, type OpenTransaction, setTransactionState } from '../../stores/transaction-store.ts';
import type { Look } from '../evidence/look.ts';
import { endTransaction } from './end-transaction.ts';
import { type ProvenOutcomes, proveOutcomes } from './proof.ts';
import { storeConfirmed } from './store-confirmed.ts';
import { hasChangedNotes, saveWaiting } from './waiting.ts';

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
  look: Look,
  transaction: OpenTransaction,
  nfts: readonly TransactionNft[],
  { outcomes: { minted }, waiting }: ProvenOutcomes,
): Promise<boolean> {
  const own = minted.find((mint) => transaction.attempts.some(({ hash }) => hash === mint.in.hash));
  if (own === undefined) return false;
  await storeConfirmed(look, transaction, { inclusion: own.in, minted, nfts, waiting });
  return true;
}

/**
 * Releases the NFTs of a transaction of which no attempt is mined, when another transaction used its nonce. Does
 * so only when that is final and it is proven that none of the NFTs was minted by this one; until then they keep
 * their nonce. NFTs of which nothing is proven wait without the others, once one is proven not to be minted by it.
 * @returns whether its nonce is used for good, so that it is not to be broadcast again
 */
export async function releaseLost(look: Look, transaction: OpenTransaction): Promise<boolean> {
  const { db, lease, memory } = look.context;
  const { id } = transaction;
  if ((await look.finalCount()) <= transaction.nonce) {
    memoryOf(memory, id).isSettling = true;
    return false;
  }
  const nfts = await listOpenNfts(db, id);
  const proof = await proveOutcomes(look, transaction, nfts);
  const { outcomes, waiting } = proof;
  if (await confirmByEvent(look, transaction, nfts, proof)) return true;
  if (waiting.length > 0 && waiting.length === nfts.length) {
    if (hasChangedNotes(waiting)) await inFencedTransaction(db, lease, (tx) => saveWaiting(tx, [], waiting));
    memoryOf(memory, id).mined = null;
    return true;
  }
  const inclusion = await findOwnAttempt(look, transaction);
  if (inclusion !== undefined) {
    await storeConfirmed(look, transaction, { inclusion, minted: outcomes.minted, nfts, waiting });
    return true;
  }
  await endTransaction(look, id, 'lost', {
    nfts,
    proof,
    facts: transactionFacts(transaction),
    async change(tx) {
      await setTransactionState(tx, id, 'lost', undefined);
      await makeDueAgain(tx, id);
    },
  });
  return true;
}

/**
 * Finds the attempt that is in a final block although the node gives no receipt of it. It minted nothing: when it is
 * finalized, that counts as a failure of its contract.
 */
async function findOwnAttempt(
  { context: { node }, block: blockAt, finalized }: Look,
  { attempts }: OpenTransaction,
): Promise<Inclusion | undefined> {
  for (const { hash } of attempts) {
    const place = await node.blockOf(hash);
    if (place === null || place.number > finalized) continue;
    const block = await blockAt(place.number);
    if (block?.hash === place.hash)
      return { hash, blockNumber: block.number, blockHash: block.hash, time: block.time, cost: null };
  }
  return undefined;
}
