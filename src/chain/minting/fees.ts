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

type Outbidding = {
  /** The most that a unit of gas may cost. */
  readonly cap: bigint;
  /** The least priority fee, as far as a node has named it. */
  readonly leastTip?: bigint | undefined;
  /** No node accepts the attempt, so the price need not rise by a share of it. */
  readonly isRefused?: boolean;
};

/**
 * Fees that replace an attempt whatever the market is like: both an eighth higher at least, and no lower than the present
 * price; each up to the cap. The price of a rejected attempt doubles while it is below 1 gwei.
 * @returns undefined when neither can be higher
 */
export function outbid(
  last: Fees,
  market: Market,
  { cap, leastTip = 0n, isRefused = false }: Outbidding,
): Fees | undefined {
  const { baseFee, suggested } = market;
  const base = baseFee ?? 0n;
  const tip = last.maxPriorityFeePerGas;
  const floor = greatest(suggested, leastTip);
  // Raised by eighths, a price near zero would take over a hundred polls to reach what nodes want.
  const next = (fee: bigint) => (isRefused && fee < gwei ? greatest(2n * fee, 1n) : raised(fee));
  if (tip === null) {
    const price = least(greatest(next(last.maxFeePerGas), base + floor), cap);
    return price > last.maxFeePerGas ? { maxFeePerGas: price, maxPriorityFeePerGas: null } : undefined;
  }
  const newTip = least(greatest(next(tip), floor), cap);
  // What is paid is raised by the tip: the maximum only has to leave room for it.
  const maxFeePerGas = least(greatest(raised(last.maxFeePerGas), 2n * base + newTip), cap);
  if (maxFeePerGas <= last.maxFeePerGas && newTip <= tip) return undefined;
  return {
    maxFeePerGas: greatest(maxFeePerGas, last.maxFeePerGas),
    maxPriorityFeePerGas: greatest(newTip, tip),
  };
}

/** The present price for a transaction of the oldest type. The whole of it is paid: it leaves room for one block only. */
export const asLegacy = ({ baseFee, suggested }: Market): Market => ({
  baseFee: null,
  suggested: (baseFee === null ? 0n : raised(baseFee)) + suggested,
});

/** Raises a value by an eighth, rounded up, and at least by 1. */
const raised = (fee: bigint) => fee + greatest((fee + 7n) / 8n, 1n);
/** Raises a value by a quarter, the most above the market that is ever paid. */
const withMargin = (fee: bigint) => (fee * 5n) / 4n;
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);
