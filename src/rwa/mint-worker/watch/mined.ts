import type { Block, Receipt } from '../../../chain/minting/mint-node.ts';
import type { Inclusion } from '../stores/transaction-store.ts';

/** The receipt of a transaction and the block of the chain that includes it. */
export type Mined = { readonly receipt: Receipt; readonly block: Block };

export const inclusionOf = ({ receipt, block }: Mined): Inclusion => ({
  hash: receipt.hash,
  blockNumber: block.number,
  blockHash: block.hash,
  time: block.time,
  cost: receipt.cost,
});
