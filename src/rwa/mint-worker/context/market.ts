import { asLegacy, type Market } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from './lane-context.ts';
import type { Learned } from './lane-memory.ts';

const nothing: Omit<Learned, 'until'> = { tip: 0n, tokens: Number.POSITIVE_INFINITY, isLegacy: false };
const validMs = 3_600_000;

export const learnedOf = ({ memory, now }: LaneContext): Omit<Learned, 'until'> =>
  memory.learned !== undefined && now() < memory.learned.until ? memory.learned : nothing;

/** Remembers what nodes take, for transactions to come. */
export function learn(context: LaneContext, found: Partial<Omit<Learned, 'until'>>): void {
  context.memory.learned = { ...learnedOf(context), ...found, until: context.now() + validMs };
}

/**
 * The present prices, and no less than the least tip of the network and of its nodes. Asked once for each block, however
 * many transactions need them.
 */
export async function marketAt(context: LaneContext, head: Head): Promise<Market> {
  const { memory, network, node } = context;
  if (memory.market?.hash !== head.hash) {
    memory.market = { hash: head.hash, market: await node.market(head) };
  }
  const { baseFee, suggested } = memory.market.market;
  const { tip, isLegacy } = learnedOf(context);
  const floors = [suggested, BigInt(network.minTip), tip];
  const market = { baseFee, suggested: floors.reduce((most, each) => (each > most ? each : most)) };
  return isLegacy ? asLegacy(market) : market;
}
