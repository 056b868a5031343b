import { createFewAtOnce } from '../../../../base/few-at-once.ts';
import type { Block, Head, MintNode } from '../../../../chain/minting/mint-node.ts';
import type { MintSigner } from '../../../../chain/minting/signer.ts';
import type { Network } from '../../../../chain/rpc/client/network.ts';
import type { Mined } from '../../context/lane-memory.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';

/** The chain as seen by one poll. Caches blocks, so that all parts of a poll see the same ones. */
export type ChainView = {
  readonly head: Head;
  /** How many transactions of the signer are in blocks. */
  readonly count: bigint;
  /** The number of the newest final block. */
  finalized(): Promise<bigint>;
  /** The block of this number; null when the node has no block of this number. */
  block(number: bigint): Promise<Block | null>;
  /** How many blocks there are from this one to the newest, including both. */
  depthOf(blockNumber: bigint): bigint;
  /**
   * The receipt of the attempt that is in a block of the chain, and that block; null when no attempt has a
   * receipt; undefined when one has, but of a block that the node does not have in its chain: then it is unclear
   * whether the transaction is mined.
   */
  receiptOf(transaction: Pick<OpenTransaction, 'attempts' | 'contract'>): Promise<Mined | null | undefined>;
};

type Context = {
  readonly node: Pick<MintNode, 'block' | 'finalized' | 'receipt' | 'transactionCount'>;
  readonly network: Pick<Network, 'finalityDepth'>;
  readonly signer: Pick<MintSigner, 'address'>;
};

// A receipt may be as large as a block, and there may be hundreds of attempts.
const receiptsAtOnce = 8;

/** @throws when a node does not answer, as every method of the view does */
export async function viewChain({ node, network, signer }: Context, head: Head): Promise<ChainView> {
  const count = await node.transactionCount(signer.address, 'latest');
  const blocks = new Map<bigint, Promise<Block | null>>();
  let finalized: Promise<bigint> | undefined;
  const fewAtOnce = createFewAtOnce(receiptsAtOnce);

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
      const receipts = await Promise.all(
        attempts.map(({ hash }) => fewAtOnce(() => node.receipt(hash, contract))),
      );
      for (const receipt of receipts) {
        if (receipt === null) continue;
        const onChain = await block(receipt.blockNumber);
        // A node may return a receipt of a block that is no longer in its chain. Such a receipt does not count.
        if (onChain?.hash === receipt.blockHash) return { receipt, block: onChain };
      }
      return receipts.every((receipt) => receipt === null) ? null : undefined;
    },
  };
}
