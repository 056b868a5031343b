import type { Fees } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { Signed } from '../../../chain/minting/signer.ts';
import type { Tx } from '../../../contract/transaction.ts';
import { submitNfts } from '../../minting/mint-state-store.ts';
import { broadcast } from '../context/broadcast.ts';
import { attemptFacts, type LaneContext } from '../context/lane-context.ts';
import { insertAttempt } from '../stores/attempt-store.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { lockQueuedMints, type QueuedMint } from '../stores/queued-nft-store.ts';
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
  const { step } = context;
  const stored = await signAndStore(context, batch);
  if (stored === undefined) return 0;
  const { id, nonce, signed, mints } = stored;
  const facts = attemptFacts({ id, nonce }, { number: 1, hash: signed.hash, fees: batch.fees });
  await step('stored', { ...facts, nftIds: idsOf(mints) });
  await broadcast(context, id, signed);
  await step('sent', facts);
  return mints.length;
}

type Stored = {
  readonly id: string;
  readonly nonce: bigint;
  readonly signed: Signed;
  readonly mints: readonly QueuedMint[];
};

const idsOf = (mints: readonly QueuedMint[]) => mints.map(({ nftId }) => nftId);

/**
 * Signs first and stores what is signed, since a signature may come from outside, and no transaction of the database
 * waits for that. When less of the batch is left by then, the rest is signed again.
 * @returns undefined when nothing of the batch is queued any more
 */
async function signAndStore(context: LaneContext, batch: Batch): Promise<Stored | undefined> {
  const { db, lease, signer, step } = context;
  const { contract, fees, firstNonce, gasLimit } = batch;
  let { mints } = batch;
  while (mints.length > 0) {
    const highest = await findHighestNonce(db, lease);
    const nonce = highest === undefined || firstNonce > highest ? firstNonce : highest + 1n;
    const signed = await signer.sign({ chainId: lease.chainId, nonce, contract, mints, gasLimit, fees });
    await step('signed', { nonce: nonce.toString(), hash: signed.hash });
    const whole = { mints, nonce, signed };
    const stored = await inFencedTransaction(db, lease, (tx) => store(tx, context, batch, whole));
    if ('id' in stored) return { ...whole, id: stored.id };
    mints = stored.queued;
  }
  return undefined;
}

/** @returns those of the mints that are queued still, when these are not all; then nothing is stored */
async function store(
  tx: Tx,
  { lease }: LaneContext,
  { contract, fees, gasLimit, head }: Batch,
  { mints, nonce, signed }: Omit<Stored, 'id'>,
): Promise<{ readonly id: string } | { readonly queued: readonly QueuedMint[] }> {
  const queued = await lockQueuedMints(tx, mints);
  if (queued.length < mints.length) return { queued };
  const id = await insertTransaction(tx, lease, {
    nonce,
    contract,
    gasLimit,
    companyIds: [...new Set(mints.map(({ companyId }) => companyId))],
  });
  await insertAttempt(tx, lease, { transactionId: id, number: 1, signed, fees, sentAtBlock: head.number });
  await insertTransactionNfts(tx, id, mints);
  await submitNfts(tx, idsOf(mints));
  return { id };
}
