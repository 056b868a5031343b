import type { Block, Head, Receipt } from '../../chain/minting/mint-node.ts';
import type { LaneContext } from './lane-context.ts';
import type { OpenTransaction } from './transaction-store.ts';

/** One look at the chain: what it is asked twice, it answers alike. */
export type ChainView = {
  readonly head: Head;
  /** Transactions of the signer that have a block. */
  readonly count: bigint;
  /** The newest block that cannot be taken back. */
  finalized(): Promise<bigint>;
  /** The block of this number; null when the chain is not that long, as far as we see. */
  block(number: bigint): Promise<Block | null>;
  /** Blocks from this one to the newest, both counted. */
  depthOf(blockNumber: bigint): bigint;
  /**
   * The receipt of whichever attempt has a block on the chain, and that block; null when none has a receipt;
   * undefined when one has, of a block that is not on the chain as far as we see: that says neither.
   */
  receiptOf(transaction: OpenTransaction): Promise<Mined | null | undefined>;
};

export type Mined = { readonly receipt: Receipt; readonly block: Block };

export async function viewChain({ node, network, signer }: LaneContext, head: Head): Promise<ChainView> {
  const count = await node.transactionCount(signer.address, 'latest');
  const blocks = new Map<bigint, Promise<Block | null>>();
  let finalized: Promise<bigint> | undefined;
  const block = (number: bigint) => {
    const known = blocks.get(number) ?? node.block(number);
    blocks.set(number, known);
    return known;
  };

  return {
    head,
    count,
    finalized() {
      finalized ??= node.finalized(head, network.finalityDepth);
      return finalized;
    },
    block,
    depthOf: (number) => head.number - number + 1n,
    async receiptOf({ attempts, contract }) {
      const receipts = await Promise.all(attempts.map(({ hash }) => node.receipt(hash, contract)));
      for (const receipt of receipts) {
        if (receipt === null) continue;
        const onChain = await block(receipt.blockNumber);
        // A node may tell of a block that it has left meanwhile: only its own chain counts.
        if (onChain?.hash === receipt.blockHash) return { receipt, block: onChain };
      }
      return receipts.every((receipt) => receipt === null) ? null : undefined;
    },
  };
}
