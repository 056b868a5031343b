import type { Fees } from '../../../chain/minting/fees.ts';
import type { Signed } from '../../../chain/minting/signer.ts';
import type { Tx } from '../../../contract/transaction.ts';
import { submitNfts } from '../../minting/mint-state-store.ts';
import { broadcast } from '../context/broadcast.ts';
import { attemptFacts, type LaneContext } from '../context/lane-context.ts';
import { insertAttempt } from '../stores/attempt-store.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import type { QueuedMint } from '../stores/queued-nft-store.ts';
import { insertTransactionNfts } from '../stores/transaction-nft-store.ts';
import { insertTransaction, type NewTransaction } from '../stores/transaction-store.ts';

type ToStore = Omit<NewTransaction, 'companyIds'> & {
  readonly signed: Signed;
  readonly fees: Fees;
  /** The newest block. */
  readonly sentAtBlock: bigint;
  /** None when it reports changed metadata, or only uses its nonce. */
  readonly mints?: readonly QueuedMint[];
};

/**
 * Stores a signed transaction with its NFTs, and broadcasts it once that has committed.
 * @param mayStore runs first in the same transaction of the database; when it returns false, nothing is stored or sent
 * @returns whether it is stored
 */
export async function storeAndSend(
  context: LaneContext,
  { signed, fees, sentAtBlock, mints = [], ...created }: ToStore,
  mayStore: (tx: Tx) => Promise<boolean> = async () => true,
): Promise<boolean> {
  const { db, lease, step } = context;
  const nftIds = mints.map(({ nftId }) => nftId);
  const companyIds = [...new Set(mints.map(({ companyId }) => companyId))];
  const id = await inFencedTransaction(db, lease, async (tx) => {
    if (!(await mayStore(tx))) return undefined;
    const transactionId = await insertTransaction(tx, lease, { ...created, companyIds });
    await insertAttempt(tx, lease, { transactionId, number: 1, signed, fees, sentAtBlock });
    await insertTransactionNfts(tx, transactionId, mints);
    await submitNfts(tx, nftIds);
    return transactionId;
  });
  if (id === undefined) return false;
  const facts = attemptFacts({ ...created, id }, { number: 1, hash: signed.hash, fees });
  await step('stored', { ...facts, nftIds });
  await broadcast(context, id, signed);
  await step('sent', facts);
  return true;
}
