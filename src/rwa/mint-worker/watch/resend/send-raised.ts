import type { Fees } from '../../../../chain/minting/fees.ts';
import { readSigned } from '../../../../chain/minting/signer.ts';
import { broadcast } from '../../context/broadcast.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import { attemptFacts } from '../../context/step-facts.ts';
import { insertAttempt, readRawAttempt } from '../../stores/attempt-store.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { ChainView } from '../evidence/chain-view.ts';
import { rebroadcastAttempt } from './rebroadcast-attempt.ts';
import { findSameAttempt } from './same-attempt.ts';

/**
 * Signs a transaction again with other fees, stores it and broadcasts it. What was signed with these fees before is
 * broadcast again as it is.
 * @returns false when nodes have just refused that for good; then nothing has changed
 */
export async function sendRaised(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  fees: Fees,
): Promise<boolean> {
  const { db, lease, memory, signer, step } = context;
  const { id: transactionId, attempts } = transaction;
  const raw = await readRawAttempt(db, attempts[0].hash);
  const same = await findSameAttempt(db, transaction, { ...readSigned(raw), fees });
  if (same !== undefined) {
    if (memory.refused.get(transactionId)?.hash === same.hash) return false;
    await rebroadcastAttempt(context, transaction, same);
    return true;
  }
  const signed = await signer.signAgain(raw, fees);
  const number = attempts[0].number + 1;
  const sentAtBlock = view.head.number;
  await inFencedTransaction(db, lease, (tx) =>
    insertAttempt(tx, lease, { transactionId, number, signed, fees, sentAtBlock }),
  );
  const facts = attemptFacts(transaction, { number, hash: signed.hash, fees });
  await step('raise_stored', facts);
  await broadcast(context, transactionId, signed, fees);
  await step('raise_sent', facts);
  return true;
}
