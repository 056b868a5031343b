import { answersOthers, isOfNode } from '../../context/inquiry.ts';
import { LeaseLostError } from '../../stores/lane-store.ts';
import { listOpenNfts } from '../../stores/transaction-nft-store.ts';
import { listUnproven, type UnprovenTransaction } from '../../stores/unproven-store.ts';
import type { Look } from '../evidence/look.ts';
import { endTransaction } from './end-transaction.ts';
import { proveOutcomes } from './proof.ts';
import { passedOver, revertedMint } from './retry-limit.ts';

/** Goes on to prove what became of NFTs whose transactions have ended. */
export async function settleUnproven(look: Look): Promise<void> {
  // Without a final block nothing is proven.
  if (look.finalized < 0n) return;
  for (const transaction of await listUnproven(look.context.db, look.context.lease)) {
    if (look.context.stopping.aborted) return;
    await settleAlone(look, transaction);
  }
}

/** Settles one transaction. Neither a question without an answer nor a row that was changed by hand keeps others waiting. */
async function settleAlone(look: Look, transaction: UnprovenTransaction): Promise<void> {
  const { log, node, stopping } = look.context;
  try {
    await settleOne(look, transaction);
  } catch (err) {
    if (err instanceof LeaseLostError || stopping.aborted) throw err;
    if (!isOfNode(err)) {
      log.error({ err, transaction: transaction.id }, 'outcome of mints cannot be stored');
    } else if (await answersOthers(node, err, stopping)) {
      log.debug({ err, transaction: transaction.id }, 'outcome of mints cannot be proven yet');
    } else throw err;
  }
}

async function settleOne(look: Look, transaction: UnprovenTransaction): Promise<void> {
  const { id, minedHash, state } = transaction;
  const nfts = await listOpenNfts(look.context.db, id);
  const proof = await proveOutcomes(look, transaction, nfts);
  await endTransaction(look, id, 'proven', {
    nfts,
    proof,
    failure: failureOf(transaction),
    facts: { transaction: id, reason: state, ...(minedHash !== null && { hash: minedHash }) },
  });
}

/** A transaction that was not mined counts as no attempt. */
function failureOf({ minedHash, state }: UnprovenTransaction): string | undefined {
  if (state === 'lost' || minedHash === null) return undefined;
  return state === 'reverted' ? revertedMint(minedHash) : passedOver(minedHash);
}
