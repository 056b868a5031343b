import type { Fees } from '../../../chain/minting/fees.ts';
import type { Signed } from '../../../chain/minting/signer.ts';
import type { Database, Tx } from '../../../contract/transaction.ts';
import type { LaneLease } from './lane-store.ts';

/*
 * Table `mint_attempts`: the signed forms of a transaction. All have its nonce; each has higher fees than the
 * one before, or mints fewer of its NFTs or pays less because nodes rejected the one before.
 */

export type Attempt = {
  /** 1 for the first. */
  readonly number: number;
  readonly hash: string;
  readonly fees: Fees;
  /** The newest block when it was signed. */
  readonly sentAtBlock: bigint;
};

export type NewAttempt = Omit<Attempt, 'hash'> & {
  readonly transactionId: string;
  readonly signed: Signed;
};

/** Inserts a signed attempt. Must commit before the attempt is broadcast. */
export async function insertAttempt(tx: Tx, { fence }: LaneLease, attempt: NewAttempt): Promise<void> {
  await tx('mint_attempts').insert({
    transaction_id: attempt.transactionId,
    number: attempt.number,
    hash: attempt.signed.hash,
    raw: Buffer.from(attempt.signed.raw.slice(2), 'hex'),
    max_fee_per_gas: attempt.fees.maxFeePerGas.toString(),
    max_priority_fee_per_gas: attempt.fees.maxPriorityFeePerGas?.toString() ?? null,
    sent_at_block: attempt.sentAtBlock.toString(),
    fence,
  });
}

/** Reads the signed bytes of an attempt, as hex with 0x. @throws Error when no attempt has the hash */
export async function readRawAttempt(db: Database, hash: string): Promise<string> {
  const row: { raw: Buffer } | undefined = await db('mint_attempts').where({ hash }).first('raw');
  if (row === undefined) throw new Error(`No attempt has the hash ${hash}.`);
  return `0x${row.raw.toString('hex')}`;
}
