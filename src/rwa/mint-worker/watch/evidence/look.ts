import type { Inquiry } from '../../context/inquiry.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import type { ChainView } from './chain-view.ts';

/** One look at the chain: what the parts of `watch` share during a poll. */
export type Look = {
  readonly context: LaneContext;
  readonly view: ChainView;
  readonly inquiry: Inquiry;
  /** The hash of a block that a stored transaction depends on; undefined when it is unclear in this look. */
  hashOf(number: bigint): string | undefined;
  /** How many transactions of the signer are in final blocks. */
  finalCount(): Promise<bigint>;
};
