import { asLegacy, type Fees, type Market, quote, withTip } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from './lane-context.ts';
import type { Learned } from './lane-memory.ts';

const nothing: Omit<Learned, 'until'> = { tip: 0n, tokens: new Map(), isLegacy: false };
const validMs = 3_600_000;

const learnedOf = ({ memory, now }: LaneContext): Omit<Learned, 'until'> =>
  memory.learned !== undefined && now() < memory.learned.until ? memory.learned : nothing;

/** Remembers what nodes take, for transactions to come. */
export function learn(context: LaneContext, found: Partial<Omit<Learned, 'until'>>): void {
  context.memory.learned = { ...learnedOf(context), ...found, until: context.now() + validMs };
}

/** Remembers how many NFTs of a contract nodes take in a transaction. */
export function learnTokens(context: LaneContext, contract: string, most: number): void {
  const learned = { most, until: context.now() + validMs };
  learn(context, { tokens: new Map(learnedOf(context).tokens).set(contract, learned) });
}

/** The most NFTs of a contract that nodes take in a transaction; infinite where they have rejected none in the last hour. */
export function mostTokensOf(context: LaneContext, contract: string): number {
  const learned = learnedOf(context).tokens.get(contract);
  return learned !== undefined && context.now() < learned.until ? learned.most : Number.POSITIVE_INFINITY;
}

/**
 * The present prices: the base fee, and the larger of the suggested tip and the least tip of the network. Asked once for
 * each block, however many transactions need them.
 */
export async function marketAt({ memory, network, node }: LaneContext, head: Head): Promise<Market> {
  if (memory.market?.hash !== head.hash) {
    memory.market = { hash: head.hash, market: await node.market(head) };
  }
  return withTip(memory.market.market, BigInt(network.minTip));
}

/**
 * Fees for a first attempt: at the present prices, and no lower than a figure that a node has named. A figure that the cap does
 * not allow is left out: nodes that still want it say so.
 * @returns undefined when the present price is above the cap
 */
export async function quoteAt(context: LaneContext, head: Head): Promise<Fees | undefined> {
  const { tip, isLegacy } = learnedOf(context);
  const market = await marketAt(context, head);
  const quoteOf = (of: Market) => quote(isLegacy ? asLegacy(of) : of, context.settings.feeCap);
  return quoteOf(withTip(market, tip)) ?? quoteOf(market);
}
