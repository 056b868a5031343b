import type { Fees } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { Signed } from '../../../chain/minting/signer.ts';
import type { Tx } from '../../../contract/transaction.ts';
import { submitNfts } from '../../minting/mint-state-store.ts';
import { broadcast } from '../broadcast.ts';
import type { LaneContext } from '../lane-context.ts';
import { attemptFacts } from '../step-facts.ts';
import { insertAttempt } from '../stores/attempt-store.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { lockQueuedMints } from '../stores/queued-nft-store.ts';
import { insertTransactionNfts } from '../stores/transaction-nft-store.ts';
import { findHighestNonce, insertTransaction } from '../stores/transaction-store.ts';
import type { SizedBatch } from './size-batch.ts';

/** What one transaction is made of. */
export type Batch = SizedBatch & {
  readonly head: Head;
  readonly contract: string;
  readonly fees: Fees;
  /** The lowest nonce that may be used. */
  readonly firstNonce: bigint;
};

/**
 * Signs and stores one transaction, and broadcasts it once that has committed.
 * @returns how many NFTs it mints; 0 when none of the batch is queued any more
 */
export async function sendBatch(context: LaneContext, batch: Batch): Promise<number> {
  const { db, lease, step } = context;
  const stored = await inFencedTransaction(db, lease, (tx) => storeTransaction(tx, context, batch));
  if (stored === undefined) return 0;
  const { id, nonce, signed, nftIds } = stored;
  const facts = attemptFacts({ id, nonce }, { number: 1, hash: signed.hash, fees: batch.fees });
  await step('stored', { ...facts, nftIds });
  await broadcast(context, id, signed, batch.fees);
  await step('sent', facts);
  return nftIds.length;
}

type Stored = {
  readonly id: string;
  readonly nonce: bigint;
  readonly signed: Signed;
  readonly nftIds: readonly string[];
};

/** @returns undefined when nothing of the batch is queued any more */
async function storeTransaction(
  tx: Tx,
  { lease, signer, step }: LaneContext,
  { contract, fees, firstNonce, gasLimit, head, mints: sized }: Batch,
): Promise<Stored | undefined> {
  const { chainId } = lease;
  const mints = await lockQueuedMints(tx, sized);
  if (mints.length === 0) return undefined;
  const nftIds = mints.map(({ nftId }) => nftId);

  const highest = await findHighestNonce(tx, lease);
  const nonce = highest === undefined || firstNonce > highest ? firstNonce : highest + 1n;
  const signed = await signer.sign({ chainId, nonce, contract, mints, gasLimit, fees });
  await step('signed', { nonce: nonce.toString(), hash: signed.hash });

  const id = await insertTransaction(tx, lease, { nonce, contract, gasLimit });
  await insertAttempt(tx, lease, { transactionId: id, number: 1, signed, fees, sentAtBlock: head.number });
  await insertTransactionNfts(tx, id, mints);
  await submitNfts(tx, nftIds);
  return { id, nonce, signed, nftIds };
}
