import type { Fees } from '../../../../chain/minting/fees.ts';
import type { Mint } from '../../../../chain/minting/mint-contract.ts';
import { readSigned } from '../../../../chain/minting/signer.ts';
import type { Database } from '../../../../contract/transaction.ts';
import { type Attempt, readRawAttempt } from '../../stores/attempt-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';

/** What an attempt of a nonce says. */
export type Plan = { readonly mints: readonly Mint[]; readonly gasLimit: bigint; readonly fees: Fees };

/**
 * Finds the attempt that says the same. It is not signed again: that costs a signature, and its hash is stored.
 * @returns undefined when there is none
 */
export async function findSameAttempt(
  db: Database,
  { attempts }: OpenTransaction,
  { fees, gasLimit, mints }: Plan,
): Promise<Attempt | undefined> {
  const tokens = tokensOf(mints);
  for (const attempt of attempts) {
    if (!isSame(attempt.fees, fees)) continue;
    const signed = readSigned(await readRawAttempt(db, attempt.hash));
    if (signed.gasLimit === gasLimit && tokensOf(signed.mints) === tokens) return attempt;
  }
  return undefined;
}

const tokensOf = (mints: readonly Mint[]): string => mints.map(({ tokenId }) => tokenId).join();

const isSame = (one: Fees, other: Fees): boolean =>
  one.maxFeePerGas === other.maxFeePerGas && one.maxPriorityFeePerGas === other.maxPriorityFeePerGas;
