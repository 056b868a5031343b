import type { LaneContext } from '../lane-context.ts';
import { transactionFacts } from '../step-facts.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { listOpenNfts } from '../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import type { ChainView } from './chain-view.ts';
import { proveOutcomes } from './evidence.ts';
import { endLost } from './outcomes.ts';

/**
 * Releases the NFTs of a transaction of which no attempt is mined, when another transaction used its nonce. Does
 * so only when that is final and it is proven that none of the NFTs was minted by this one; until then they keep
 * their nonce.
 */
export async function releaseLost(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<void> {
  const { db, lease, memory, node, signer, step } = context;
  const finalCount = await node.transactionCount(signer.address, await view.finalized());
  if (finalCount <= transaction.nonce) return;
  const nfts = await listOpenNfts(db, transaction.id);
  const outcomes = await proveOutcomes(context, view, transaction, nfts);
  if (outcomes === undefined) return;
  // A mint in one of our attempts means that its receipt is late and that nobody else used the nonce.
  const ownHashes = new Set(transaction.attempts.map(({ hash }) => hash));
  if (outcomes.minted.some((mint) => ownHashes.has(mint.in.hash))) return;

  const waits = await inFencedTransaction(db, lease, (tx) => endLost(tx, transaction.id, outcomes));
  memory.broadcastAt.delete(transaction.id);
  memory.underfunded.delete(transaction.id);
  memory.refused.delete(transaction.id);
  await step('released', {
    ...transactionFacts(transaction),
    waits,
    failed: outcomes.failed.length,
    released: outcomes.released.length,
  });
}
