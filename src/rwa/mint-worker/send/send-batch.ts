import type { Fees } from '../../../chain/minting/fees.ts';
import { type GasCost, gasFor } from '../../../chain/minting/gas.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { Signed } from '../../../chain/minting/signer.ts';
import type { Tx } from '../../../contract/transaction.ts';
import { submitNfts } from '../../minting/mint-state-store.ts';
import { broadcast } from '../broadcast.ts';
import type { LaneContext } from '../lane-context.ts';
import { attemptFacts } from '../step-facts.ts';
import { insertAttempt } from '../stores/attempt-store.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { lockQueuedMints, type QueuedMint } from '../stores/queued-nft-store.ts';
import { countFailedAttempts, insertTransactionNfts } from '../stores/transaction-nft-store.ts';
import { findHighestNonce, insertTransaction } from '../stores/transaction-store.ts';

/** What all transactions to one contract have in common, within one poll. */
export type Batch = {
  readonly head: Head;
  readonly contract: string;
  /** Queued NFTs to skip. */
  readonly excludedNftIds: readonly string[];
  readonly fees: Fees;
  readonly cost: GasCost;
};

type Bounds = {
  /** The lowest nonce that may be used. */
  readonly firstNonce: bigint;
  /** The most NFTs that the transaction may mint. */
  readonly limit: number;
};

/**
 * Signs and stores one transaction, and broadcasts it once that has committed.
 * @returns how many NFTs it mints; 0 when none is queued for the contract
 */
export async function sendBatch(context: LaneContext, batch: Batch, bounds: Bounds): Promise<number> {
  const { db, lease, step } = context;
  const stored = await inFencedTransaction(db, lease, (tx) => storeTransaction(tx, context, batch, bounds));
  if (stored === undefined) return 0;
  const { id, nonce, signed, nftIds } = stored;
  const facts = attemptFacts({ id, nonce }, { number: 1, hash: signed.hash, fees: batch.fees });
  await step('stored', { ...facts, nftIds });
  await broadcast(context, id, signed);
  await step('sent', facts);
  return nftIds.length;
}

type Stored = {
  readonly id: string;
  readonly nonce: bigint;
  readonly signed: Signed;
  readonly nftIds: readonly string[];
};

/** @returns undefined when nothing is queued for the contract */
async function storeTransaction(
  tx: Tx,
  { lease, signer, step }: LaneContext,
  { contract, cost, excludedNftIds, fees, head }: Batch,
  { firstNonce, limit }: Bounds,
): Promise<Stored | undefined> {
  const { chainId } = lease;
  const queued = await lockQueuedMints(tx, { chainId, contract, excludedNftIds, limit });
  const mints = await isolateRetry(tx, queued);
  if (mints.length === 0) return undefined;
  const nftIds = mints.map(({ nftId }) => nftId);

  const highest = await findHighestNonce(tx, lease);
  const nonce = highest === undefined || firstNonce > highest ? firstNonce : highest + 1n;
  const gasLimit = gasFor(cost, mints.length);
  const signed = await signer.sign({ chainId, nonce, contract, mints, gasLimit, fees });
  await step('signed', { nonce: nonce.toString(), hash: signed.hash });

  const id = await insertTransaction(tx, lease, { nonce, contract, gasLimit });
  await insertAttempt(tx, lease, { transactionId: id, number: 1, signed, fees, sentAtBlock: head.number });
  await insertTransactionNfts(tx, id, mints);
  await submitNfts(tx, nftIds);
  return { id, nonce, signed, nftIds };
}

/** Sends an NFT with a failed attempt alone, so that it cannot make the mints of others fail again. */
async function isolateRetry(tx: Tx, mints: readonly QueuedMint[]): Promise<readonly QueuedMint[]> {
  const nftIds = mints.map(({ nftId }) => nftId);
  const failedAttempts = await countFailedAttempts(tx, nftIds);
  const retry = mints.find(({ nftId }) => failedAttempts.has(nftId));
  return retry === undefined ? mints : [retry];
}
