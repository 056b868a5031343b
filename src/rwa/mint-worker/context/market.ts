import type { Market } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from './lane-context.ts';
import { currentLimits, type NodeLimits } from './node-limits.ts';

/** The present prices. Asked once for each block, however many transactions need them. */
export async function marketAt({ memory, node }: LaneContext, head: Head): Promise<Market> {
  if (memory.market?.hash !== head.hash) {
    memory.market = { hash: head.hash, market: await node.market(head) };
  }
  return memory.market.market;
}

/** What the nodes take, as far as is known. */
export const limitsOf = ({ memory, now }: LaneContext): NodeLimits => currentLimits(memory.limits, now());
