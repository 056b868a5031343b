import { asLegacy, type Fees, type Market, quote, withTip } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from './lane-context.ts';
import { remember } from './rests.ts';

// Operators of nodes change what these take.
const validMs = 3_600_000;

/** Remembers what nodes take, for transactions to come: the least priority fee in wei, or the oldest type alone. */
export function learn(
  { memory: { learned }, now }: LaneContext,
  { tip, isLegacy }: { readonly tip?: bigint; readonly isLegacy?: true },
): void {
  const until = now() + validMs;
  if (tip !== undefined) learned.tip = { least: tip, until };
  if (isLegacy) learned.legacy = { until };
}

/** Remembers how many NFTs of a contract nodes take in a transaction. */
export function learnTokens({ memory, now }: LaneContext, contract: string, most: number): void {
  remember(memory.learned.tokens, contract, { most, until: now() + validMs });
}

/** What was learned, unless it is over. */
const current = <T extends { readonly until: number }>(
  { now }: LaneContext,
  found: T | undefined,
): T | undefined => (found !== undefined && now() < found.until ? found : undefined);

/** The most NFTs of a contract that nodes take in a transaction; infinite where they have rejected none in the last hour. */
export const mostTokensOf = (context: LaneContext, contract: string): number =>
  current(context, context.memory.learned.tokens.get(contract))?.most ?? Number.POSITIVE_INFINITY;

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
  const { tip, legacy } = context.memory.learned;
  const isLegacy = current(context, legacy) !== undefined;
  const market = await marketAt(context, head);
  const quoteOf = (of: Market) => quote(isLegacy ? asLegacy(of) : of, context.settings.feeCap);
  return quoteOf(withTip(market, current(context, tip)?.least ?? 0n)) ?? quoteOf(market);
}
