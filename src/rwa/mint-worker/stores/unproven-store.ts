import type { Database, Tx } from '../../../contract/transaction.ts';
import type { LaneId } from './lane-store.ts';

/*
 * Table `mint_unproven_transactions`: transactions that have ended while the outcome of some of their NFTs is still to
 * be proven. Their nonces are done with; only those NFTs wait.
 */

export type UnprovenTransaction = {
  readonly id: string;
  /** EIP-55. */
  readonly contract: string;
  readonly state: 'finalized' | 'reverted' | 'lost';
  /** The attempt that was mined; null when none was. */
  readonly minedHash: string | null;
};

/** Remembers a transaction that has ended, or forgets it once it has no open NFT. */
export async function setUnproven(tx: Tx, transactionId: string): Promise<void> {
  const open = await tx('mint_transaction_nfts')
    .where({ transaction_id: transactionId, state: 'open' })
    .first('nft_id');
  if (open !== undefined) {
    await tx('mint_unproven_transactions')
      .insert({ transaction_id: transactionId })
      .onConflict('transaction_id')
      .ignore();
  } else {
    await tx('mint_unproven_transactions').where({ transaction_id: transactionId }).delete();
  }
}

/** Lists the lane's transactions with NFTs to be proven, the one that has waited longest first. */
export async function listUnproven(db: Database, lane: LaneId): Promise<UnprovenTransaction[]> {
  return db('mint_unproven_transactions as u')
    .join('mint_transactions as t', 't.id', 'u.transaction_id')
    .select('t.id', 't.contract', 't.state', 't.mined_hash as minedHash')
    .where({ 't.chain_id': lane.chainId, 't.signer': lane.signer })
    .orderBy('u.since');
}
