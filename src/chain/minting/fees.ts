/** The fees of a transaction per unit of gas, in wei. */
export type Fees = {
  readonly maxFeePerGas: bigint;
  /** Null on a network without a base fee: there `maxFeePerGas` is the gas price. */
  readonly maxPriorityFeePerGas: bigint | null;
};

/** The most that a unit of gas may cost, in wei, of a setting in gwei. */
export const feeCapOf = (gwei: number): bigint => BigInt(gwei) * 1_000_000_000n;

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
 * Whether the market asks for more than these fees offer. Only then is price the reason why a transaction waits: a
 * node that stands still, lacking funds or a lost transaction are not cured by paying more.
 */
function asksMore(market: Market, { maxFeePerGas, maxPriorityFeePerGas }: Fees): boolean {
  if (maxFeePerGas < priceOf(market)) return true;
  return maxPriorityFeePerGas !== null && maxPriorityFeePerGas < market.suggested;
}

/**
 * Fees that replace an attempt: both at least 12.5 % higher (nodes require 10 %), and no lower than the present
 * price. Where that raises the priority fee by more than 25 % above the suggested one, the whole price stays within
 * 25 % of the present one.
 * @returns undefined when the market does not ask for more, or the cap does not allow it
 */
export function raise(last: Fees, market: Market, cap: bigint): Fees | undefined {
  if (!asksMore(market, last)) return undefined;
  const fresh = quote(market, cap);
  const lowest = raised(last.maxFeePerGas);
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

/**
 * Fees that replace an attempt whatever the market is like: both at least 12.5 % higher.
 * @param fresh the present fees
 * @returns undefined when the cap does not allow it, or there are no present fees
 */
export function replacing(last: Fees, fresh: Fees | undefined, cap: bigint): Fees | undefined {
  if (fresh === undefined) return undefined;
  const maxFeePerGas = greatest(raised(last.maxFeePerGas), fresh.maxFeePerGas);
  if (maxFeePerGas > cap) return undefined;
  const tip = last.maxPriorityFeePerGas;
  if (tip === null || fresh.maxPriorityFeePerGas === null)
    return { maxFeePerGas, maxPriorityFeePerGas: null };
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: least(greatest(raised(tip), fresh.maxPriorityFeePerGas), maxFeePerGas),
  };
}

/**
 * Fees whose maximum is this, for a node that takes no higher one.
 * @returns undefined when the maximum leaves no room above the present price
 */
export function quoteWithin(market: Market, fees: Fees, maximum: bigint): Fees | undefined {
  if (fees.maxFeePerGas <= maximum) return fees;
  // The base fee rises by an eighth from one block to the next at most.
  if (maximum < raised(market.baseFee ?? 0n) + market.suggested) return undefined;
  return {
    maxFeePerGas: maximum,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas && least(fees.maxPriorityFeePerGas, maximum),
  };
}

/** Raises a value by an eighth, rounded up. */
const raised = (fee: bigint) => fee + (fee + 7n) / 8n;
/** Raises a value by a quarter, the most above the market that is ever paid. */
const withMargin = (fee: bigint) => (fee * 5n) / 4n;
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);
