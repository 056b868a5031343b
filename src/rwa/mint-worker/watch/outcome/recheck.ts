import { lockFreeMints, unmintNfts } from '../../../minting/mint-state-store.ts';
import { transactionFacts } from '../../context/lane-context.ts';
import { memoryOf } from '../../context/lane-memory.ts';
import { noteFailure } from '../../stores/contract-breaker-store.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { clearEarlierMints, closeMintedNfts, listOpenNfts } from '../../stores/transaction-nft-store.ts';
import {
  type OpenTransaction,
  setTransactionFinalized,
  setTransactionState,
} from '../../stores/transaction-store.ts';
import type { Look } from '../evidence/look.ts';
import { endTransaction } from './end-transaction.ts';
import { proveOutcomes } from './proof.ts';
import { passedOver } from './retry-limit.ts';

/**
 * Checks that a confirmed transaction is still in the chain, and finalizes it once its block is final, and each block in which
 * others minted its NFTs.
 * @returns false when it is not confirmed: it never was, or a reorganisation has replaced a block that it needs,
 *   and it is in flight again
 */
export async function recheck(look: Look, transaction: OpenTransaction): Promise<boolean> {
  const { confirmedIn, foundIn } = transaction;
  if (confirmedIn === null) return false;
  const blocks = [confirmedIn, ...foundIn];
  for (const expected of blocks) {
    const hash = look.hashOf(expected.number);
    // The chain is shorter than before, so the node may lag: wait until it has the block.
    if (hash === undefined) return true;
    if (hash !== expected.hash) {
      await unconfirm(look, transaction);
      return false;
    }
  }
  if (blocks.every(({ number }) => number <= look.finalized)) await finalize(look, transaction);
  return true;
}

/**
 * Puts a transaction in flight again that the chain has lost, and takes its mints back. An NFT whose row, or that of its RWA, is locked
 * stays as it is: the next outcome of the transaction corrects it.
 */
async function unconfirm({ context }: Look, transaction: OpenTransaction): Promise<void> {
  const { db, lease, memory, step } = context;
  const { id } = transaction;
  const unminted = await inFencedTransaction(db, lease, async (tx) => {
    await setTransactionState(tx, id, 'submitted', undefined);
    const ids = await clearEarlierMints(tx, id);
    const locked = await lockFreeMints(tx, ids);
    return unmintNfts(
      tx,
      ids.filter((nftId) => !locked.has(nftId)),
    );
  });
  memoryOf(memory, id).broadcastAt = undefined;
  await step('reorganised', { ...transactionFacts(transaction), unminted });
}

async function finalize(look: Look, transaction: OpenTransaction): Promise<void> {
  const { db, lease } = look.context;
  const { id, attempts, contract } = transaction;
  const nfts = await listOpenNfts(db, id);
  const unminted = nfts.filter(({ isMinted }) => !isMinted);
  const proof = await proveOutcomes(look, transaction, unminted);
  const hasTried = nfts.some(({ isLeftOut }) => !isLeftOut);
  const hasMinted = unminted.length < nfts.length || proof.outcomes.minted.length > 0;
  await endTransaction(look, id, 'finalized', {
    nfts,
    proof,
    failure: passedOver(attempts[0].hash),
    facts: transactionFacts(transaction),
    async change(tx) {
      await setTransactionFinalized(tx, id);
      await closeMintedNfts(tx, id);
      if (hasTried && !hasMinted) await noteFailure(tx, { chainId: lease.chainId, contract });
    },
  });
}
