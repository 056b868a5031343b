import pLimit from 'p-limit';
import type { Block, Head } from '../../../../chain/minting/mint-node.ts';
import { createInquiry, type Inquiry } from '../../context/inquiry.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import type { Mined } from '../../context/lane-memory.ts';
import { followChain } from '../../context/lineage.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';

/** The chain as seen by one call of `watch`. It keeps blocks, so that all parts see the same. A question without an answer rejects. */
export type Look = {
  readonly context: LaneContext;
  readonly inquiry: Inquiry;
  readonly head: Head;
  /** How many transactions of the signer are in blocks. */
  readonly count: bigint;
  /** How many transactions of the signer are in final blocks. */
  finalCount(): Promise<bigint>;
  /** The number of the newest final block. */
  readonly finalized: bigint;
  /** The block of this number; null when the node has no block of this number. */
  block(number: bigint): Promise<Block | null>;
  /** The hash of a block that a stored transaction depends on; undefined when this poll does not show it. */
  hashOf(number: bigint): string | undefined;
  /** How many blocks there are from this one to the newest, including both. */
  depthOf(blockNumber: bigint): bigint;
  /**
   * The receipt of the attempt that is in a block of the chain, and that block; null when no attempt has a
   * receipt; undefined when one has, but of a block that the node does not have in its chain: then it is unclear
   * whether the transaction is mined.
   */
  receiptOf(transaction: Pick<OpenTransaction, 'attempts' | 'contract'>): Promise<Mined | null | undefined>;
};

// A receipt may be as large as a block, and there may be hundreds of attempts.
const receiptsAtOnce = 8;

/**
 * Reads the count of the signer's transactions, and which blocks the chain has that stored transactions depend on.
 * @throws when a question has no answer
 */
export async function lookAtChain(
  context: LaneContext,
  head: Head,
  open: readonly OpenTransaction[],
): Promise<Look> {
  const { memory, node, signer } = context;
  const count = await node.transactionCount(signer.address, 'latest');
  const blocks = new Map<bigint, Promise<Block | null>>();
  const block = (number: bigint) => {
    const known = blocks.get(number) ?? node.block(number);
    blocks.set(number, known);
    return known;
  };
  const lineage = await followChain(memory.lineage, head, blocksInQuestion(context, open), block);
  memory.lineage = lineage;
  const fewAtOnce = pLimit(receiptsAtOnce);
  let finalCount: Promise<bigint> | undefined;

  return {
    context,
    inquiry: createInquiry(context),
    head,
    count,
    finalCount() {
      finalCount ??= node.transactionCount(signer.address, node.finalized);
      return finalCount;
    },
    finalized: node.finalized,
    block,
    hashOf: (number) => lineage.get(number),
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

function blocksInQuestion({ memory }: LaneContext, open: readonly OpenTransaction[]): bigint[] {
  const inBlocks = [...memory.transactions.values()].flatMap(({ mined }) => mined?.block.number ?? []);
  const confirmed = open.flatMap(({ confirmedIn, foundIn }) =>
    confirmedIn === null ? [] : [confirmedIn.number, ...foundIn.map(({ number }) => number)],
  );
  return [...confirmed, ...inBlocks];
}
