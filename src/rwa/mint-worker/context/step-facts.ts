import { feesInWords } from '../../../chain/minting/fees.ts';
import type { Attempt } from '../stores/attempt-store.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import type { StepFacts } from './lane-context.ts';

/** The facts that name an attempt in steps and log lines. */
export const attemptFacts = (
  { id, nonce }: Pick<OpenTransaction, 'id' | 'nonce'>,
  { number, hash, fees }: Omit<Attempt, 'sentAtBlock'>,
): StepFacts => ({
  transaction: id,
  nonce: nonce.toString(),
  attempt: number,
  hash,
  ...feesInWords(fees),
});

/** The facts that name a transaction: those of its newest attempt. */
export function transactionFacts(transaction: OpenTransaction): StepFacts {
  const [newest] = transaction.attempts;
  return attemptFacts(transaction, newest);
}
