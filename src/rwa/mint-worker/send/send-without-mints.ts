import type { Fees } from '../../../chain/minting/fees.ts';
import type { Signed } from '../../../chain/minting/signer.ts';
import type { Tx } from '../../../contract/transaction.ts';
import { broadcast } from '../context/broadcast.ts';
import { attemptFacts, type LaneContext } from '../context/lane-context.ts';
import { insertAttempt } from '../stores/attempt-store.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { insertTransaction, type NewTransaction } from '../stores/transaction-store.ts';

type WithoutMints = NewTransaction & {
  readonly signed: Signed;
  readonly fees: Fees;
  /** The newest block. */
  readonly sentAtBlock: bigint;
};

/**
 * Stores a signed transaction that mints nothing, and broadcasts it once that has committed.
 * @param mayStore runs in the same transaction of the database; when it returns false, nothing is stored or sent
 * @returns whether it is stored
 */
export async function sendWithoutMints(
  context: LaneContext,
  { signed, fees, sentAtBlock, ...created }: WithoutMints,
  mayStore: (tx: Tx) => Promise<boolean> = async () => true,
): Promise<boolean> {
  const { db, lease, step } = context;
  const id = await inFencedTransaction(db, lease, async (tx) => {
    if (!(await mayStore(tx))) return undefined;
    const transactionId = await insertTransaction(tx, lease, created);
    await insertAttempt(tx, lease, { transactionId, number: 1, signed, fees, sentAtBlock });
    return transactionId;
  });
  if (id === undefined) return false;
  const facts = attemptFacts({ ...created, id }, { number: 1, hash: signed.hash, fees });
  await step('stored', { ...facts, nftIds: [] });
  await broadcast(context, id, signed);
  await step('sent', facts);
  return true;
}
