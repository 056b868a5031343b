import type { Fees } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { lockQueuedMints } from '../stores/queued-nft-store.ts';
import { findHighestNonce } from '../stores/transaction-store.ts';
import type { SizedBatch } from './size-batch.ts';
import { storeAndSend } from './store-and-send.ts';

/** What one transaction is made of. */
type Batch = SizedBatch & {
  readonly head: Head;
  readonly contract: string;
  readonly fees: Fees;
  /** The lowest nonce that may be used. */
  readonly firstNonce: bigint;
};

/**
 * Sends one transaction. It is signed before it is stored, since a signature may come from outside, and no transaction of the
 * database waits for that. When less of the batch is queued by then, the rest is signed again.
 * @returns how many NFTs it mints; 0 when none of the batch is queued any more
 */
export async function sendBatch(context: LaneContext, batch: Batch): Promise<number> {
  const { db, lease, signer, step } = context;
  const { contract, fees, firstNonce, gasLimit, head } = batch;
  let { mints } = batch;
  while (mints.length > 0) {
    const highest = await findHighestNonce(db, lease);
    const nonce = highest === undefined || firstNonce > highest ? firstNonce : highest + 1n;
    const signed = await signer.sign({ chainId: lease.chainId, nonce, contract, mints, gasLimit, fees });
    await step('signed', { nonce: nonce.toString(), hash: signed.hash });
    let queued = mints;
    const created = { nonce, contract, gasLimit, mints, signed, fees, sentAtBlock: head.number };
    const isStored = await storeAndSend(context, created, async (tx) => {
      queued = await lockQueuedMints(tx, mints);
      return queued.length === mints.length;
    });
    if (isStored) return mints.length;
    mints = queued;
  }
  return 0;
}
