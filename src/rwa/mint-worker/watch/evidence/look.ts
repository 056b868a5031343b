import { createInquiry, type Inquiry } from '../../context/inquiry.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import { followChain } from '../../context/lineage.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { ChainView } from './chain-view.ts';

/** What the parts of `watch` share during a poll. */
export type Look = {
  readonly context: LaneContext;
  readonly view: ChainView;
  readonly inquiry: Inquiry;
  /** The hash of a block that a stored transaction depends on; undefined when this poll does not show it. */
  hashOf(number: bigint): string | undefined;
  /** How many transactions of the signer are in final blocks. */
  finalCount(): Promise<bigint>;
};

/**
 * Reads which blocks the chain has that these transactions depend on.
 * @throws when a question has no answer
 */
export async function lookAtChain(
  context: LaneContext,
  view: ChainView,
  open: readonly OpenTransaction[],
): Promise<Look> {
  const { memory, node, signer } = context;
  const inBlocks = [...memory.transactions.values()].flatMap(({ mined }) => mined?.block.number ?? []);
  const confirmed = open.flatMap(({ confirmedIn, foundIn }) =>
    confirmedIn === null ? [] : [confirmedIn.number, ...foundIn.map(({ number }) => number)],
  );
  const numbers = [...confirmed, ...inBlocks];
  const lineage = await followChain(memory.lineage, view.head, numbers, view.block);
  memory.lineage = lineage;
  let finalCount: Promise<bigint> | undefined;
  return {
    context,
    view,
    inquiry: createInquiry(context),
    hashOf: (number) => lineage.get(number),
    finalCount() {
      finalCount ??= view.finalized().then((block) => node.transactionCount(signer.address, block));
      return finalCount;
    },
  };
}
