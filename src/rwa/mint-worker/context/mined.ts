import type { Block, Receipt } from '../../../chain/minting/mint-node.ts';
import { mostCostOf } from '../../../chain/minting/signer.ts';
import type { Database } from '../../../contract/transaction.ts';
import { readRawAttempt } from '../stores/attempt-store.ts';
import type { Inclusion } from '../stores/transaction-store.ts';

/** The receipt of a transaction and the block of the chain that includes it. */
export type Mined = { readonly receipt: Receipt; readonly block: Block };

/** Where a mined transaction is, and what it cost. @throws Error when it is no attempt of ours */
export async function inclusionOf(db: Database, { receipt, block }: Mined): Promise<Inclusion> {
  const { hash, cost } = receipt;
  return {
    hash,
    blockNumber: block.number,
    blockHash: block.hash,
    time: block.time,
    cost: cost === null ? null : withinOffer(cost, await readRawAttempt(db, hash)),
  };
}

/**
 * Limits a cost to what was signed, since a wrong cost would use up the budget of a company. A higher cost does not make the
 * receipt wrong: some chains round their prices.
 */
function withinOffer(cost: bigint, raw: string): bigint {
  const most = mostCostOf(raw);
  return cost < most ? cost : most;
}
