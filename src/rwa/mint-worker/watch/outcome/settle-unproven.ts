import type { Tx } from '../../../../contract/transaction.ts';
import { answersOthers, isOfNode } from '../../context/inquiry.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { listOpenNfts } from '../../stores/transaction-nft-store.ts';
import { listUnproven, setUnproven, type UnprovenTransaction } from '../../stores/unproven-store.ts';
import type { Look } from '../evidence/look.ts';
import { applyOutcomes, type Outcomes } from './outcomes.ts';
import { proveOutcomes } from './proof.ts';
import { applyRetryLimit, passedOver, revertedMint } from './retry-limit.ts';
import { hasChangedNotes, saveWaiting } from './waiting.ts';

/** Goes on to prove what became of NFTs whose transactions have ended. */
export async function settleUnproven(look: Look): Promise<void> {
  // Without a final block nothing is proven.
  if (look.finalized < 0n) return;
  for (const transaction of await listUnproven(look.context.db, look.context.lease)) {
    if (look.context.stopping.aborted) return;
    await settleAlone(look, transaction);
  }
}

/** Settles one transaction. A question without an answer keeps no other transaction waiting. */
async function settleAlone(look: Look, transaction: UnprovenTransaction): Promise<void> {
  const { log, node, stopping } = look.context;
  try {
    await settleOne(look, transaction);
  } catch (err) {
    if (stopping.aborted || !isOfNode(err) || !(await answersOthers(node, err, stopping))) throw err;
    log.debug({ err, transaction: transaction.id }, 'outcome of mints cannot be proven yet');
  }
}

async function settleOne(look: Look, transaction: UnprovenTransaction): Promise<void> {
  const { db, lease, step } = look.context;
  const { id, state, minedHash } = transaction;
  const nfts = await listOpenNfts(db, id);
  const { outcomes: proven, waiting } = await proveOutcomes(look, transaction, nfts);
  const isUnproven = waiting.length > 0;
  if (waiting.length === nfts.length && isUnproven && !hasChangedNotes(waiting)) return;

  const { outcomes, waits } = await inFencedTransaction(db, lease, async (tx) => {
    const limited = await limitRetries(tx, transaction, proven);
    const seconds = await applyOutcomes(tx, id, limited);
    await saveWaiting(tx, nfts, waiting);
    if (!isUnproven) await setUnproven(tx, id, false);
    return { outcomes: limited, waits: seconds };
  });
  const { failed, released } = outcomes;
  if (waiting.length === nfts.length && isUnproven) return;
  await step('proven', {
    transaction: id,
    ...(minedHash !== null && { hash: minedHash }),
    reason: state,
    waits,
    failed: failed.length,
    released: released.length,
  });
}

/** A transaction that was not mined counts as no attempt. */
async function limitRetries(
  tx: Tx,
  { id, state, minedHash }: UnprovenTransaction,
  outcomes: Outcomes,
): Promise<Outcomes> {
  if (state === 'lost' || minedHash === null) return outcomes;
  const reasonOf = state === 'reverted' ? revertedMint : passedOver;
  return applyRetryLimit(tx, id, outcomes, reasonOf(minedHash));
}
