import { greatest, least } from '../../base/bigint.ts';

const gwei = 1_000_000_000n;

/** The fees of a transaction per unit of gas, in wei. */
export type Fees = {
  readonly maxFeePerGas: bigint;
  /** Null on a network without a base fee: there `maxFeePerGas` is the gas price. */
  readonly maxPriorityFeePerGas: bigint | null;
};

/** The most that a unit of gas may cost, in wei, of a setting in gwei. */
export const feeCapOf = (amount: number): bigint => BigInt(amount) * gwei;

/** Fees as decimal texts, for logs. */
export const feesInWords = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees) => ({
  maxFeePerGas: maxFeePerGas.toString(),
  maxPriorityFeePerGas: maxPriorityFeePerGas?.toString(),
});

/** Present prices per unit of gas, in wei. */
export type Market = {
  /** Of the newest block; null on a network without one. */
  readonly baseFee: bigint | null;
  /** The priority fee that the node suggests, or its gas price where there is no base fee. */
  readonly suggested: bigint;
};

/** What a unit of gas costs at present. */
export const priceOf = ({ baseFee, suggested }: Market): bigint => (baseFee ?? 0n) + suggested;

/**
 * Fees for a first attempt: they suffice until the base fee has doubled, as far as the cap allows.
 * @returns undefined when the present price is above the cap
 */
export function quote(market: Market, cap: bigint): Fees | undefined {
  const { baseFee, suggested } = market;
  if (priceOf(market) > cap) return undefined;
  if (baseFee === null) return { maxFeePerGas: suggested, maxPriorityFeePerGas: null };
  return { maxFeePerGas: least(2n * baseFee + suggested, cap), maxPriorityFeePerGas: suggested };
}

/**
 * Whether the market asks for more than these fees offer. Only then does the transaction wait for its price. Higher fees
 * help neither against a stalled node, nor missing funds, nor a lost transaction.
 */
function asksMore(market: Market, { maxFeePerGas, maxPriorityFeePerGas }: Fees): boolean {
  if (maxFeePerGas < priceOf(market)) return true;
  return maxPriorityFeePerGas !== null && maxPriorityFeePerGas < market.suggested;
}

/**
 * Fees that replace an attempt where the market asks for more: both at least 12.5 % higher (nodes require 10 %), and no
 * lower than the present price. A maximum that suffices ends at the cap. Where that raises the priority fee by more than
 * 25 % above the market's, the whole price stays within 25 % of the present one.
 * @returns undefined when the market does not ask for more, or the cap does not allow it
 */
export function bid(last: Fees, market: Market, cap: bigint): Fees | undefined {
  if (!asksMore(market, last) || priceOf(market) > cap) return undefined;
  const fresh = quote(last.maxPriorityFeePerGas === null ? asLegacy(market) : market, cap);
  const isEnough = last.maxFeePerGas <= cap && last.maxFeePerGas >= priceOf(market);
  const lowest = isEnough ? least(raised(last.maxFeePerGas), cap) : raised(last.maxFeePerGas);
  const maxFeePerGas = greatest(lowest, fresh?.maxFeePerGas ?? 0n);
  if (last.maxPriorityFeePerGas === null) {
    return maxFeePerGas > cap ? undefined : { maxFeePerGas, maxPriorityFeePerGas: null };
  }
  const tip = greatest(raised(last.maxPriorityFeePerGas), fresh?.maxPriorityFeePerGas ?? 0n);
  const isDear = tip > withMargin(market.suggested);
  const bounded = isDear ? least(maxFeePerGas, withMargin(priceOf(market))) : maxFeePerGas;
  if (bounded > cap || bounded < lowest) return undefined;
  return { maxFeePerGas: bounded, maxPriorityFeePerGas: least(tip, bounded) };
}

/** The market of a node that wants this tip at least. */
export const withTip = ({ baseFee, suggested }: Market, tip: bigint): Market => ({
  baseFee,
  suggested: greatest(suggested, tip),
});

/**
 * Fees an eighth above those of an attempt, whatever the market asks: nodes that have the attempt take them in its place.
 * @returns undefined when the cap does not allow them, or when more than 25 % above the present price would be paid
 */
export function outbid(last: Fees, market: Market, cap: bigint): Fees | undefined {
  const { maxFeePerGas, maxPriorityFeePerGas: tip } = last;
  const asked =
    tip === null
      ? { baseFee: null, suggested: raised(maxFeePerGas) }
      : { baseFee: 0n, suggested: raised(tip) };
  const fees = bid(last, asked, cap);
  return fees !== undefined && paidFor(fees, market) <= withMargin(priceOf(market)) ? fees : undefined;
}

// Without a figure, nodes that want more are believed up to this multiple of the market, and up to 1 gwei.
const mostTimes = 4n;

/**
 * Fees for nodes that reject a price and name none: an eighth above what the attempt pays. Where that is less than the
 * market, the eighth is one of the market. It ends at four times the market, or at 1 gwei where that is more. The maximum
 * ends there, too: the market may move while the transaction waits.
 * @returns undefined when the next eighth would be above that, or above the cap
 */
export function bidAfterRejection(last: Fees, market: Market, cap: bigint): Fees | undefined {
  const { maxFeePerGas: most, maxPriorityFeePerGas: tip } = last;
  const bound = greatest(mostTimes * priceOf(market), gwei);
  const paid = paidFor(last, market);
  const price = greatest(raised(paid), paid + bound / (8n * mostTimes));
  if (price > bound) return undefined;
  const asked =
    tip === null
      ? { baseFee: null, suggested: greatest(price, priceOf(market)) }
      : withTip(market, price - (market.baseFee ?? 0n));
  // A maximum from dearer days stays as it is.
  return bid(last, asked, least(cap, greatest(bound, most)));
}

/** What a unit of gas costs at these fees in the present market. */
const paidFor = ({ maxFeePerGas: most, maxPriorityFeePerGas: tip }: Fees, { baseFee }: Market): bigint =>
  tip === null ? most : least(most, (baseFee ?? 0n) + tip);

/** The present price for a transaction of the oldest type. The whole of it is paid: it leaves room for one block only. */
export const asLegacy = ({ baseFee, suggested }: Market): Market => ({
  baseFee: null,
  suggested: (baseFee === null ? 0n : raised(baseFee)) + suggested,
});

/** Raises a value by an eighth, rounded up, and at least by 1. */
const raised = (fee: bigint) => fee + greatest((fee + 7n) / 8n, 1n);
/** Raises a value by a quarter, the most above the market that is ever paid. */
const withMargin = (fee: bigint) => (fee * 5n) / 4n;
