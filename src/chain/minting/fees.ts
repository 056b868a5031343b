/** The fees of a transaction per unit of gas, in wei. */
export type Fees = {
  readonly maxFeePerGas: bigint;
  /** Null on a network without a base fee: there `maxFeePerGas` is the gas price. */
  readonly maxPriorityFeePerGas: bigint | null;
};

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

/**
 * Fees for a first attempt: they suffice until the base fee has doubled, as far as the cap allows.
 * @returns undefined when the present price is above the cap
 */
export function quote({ baseFee, suggested }: Market, cap: bigint): Fees | undefined {
  if (baseFee === null) {
    return suggested > cap ? undefined : { maxFeePerGas: suggested, maxPriorityFeePerGas: null };
  }
  if (baseFee + suggested > cap) return undefined;
  return { maxFeePerGas: least(2n * baseFee + suggested, cap), maxPriorityFeePerGas: suggested };
}

/**
 * Fees that replace an attempt: both at least 12.5 % higher (nodes require 10 %), and no lower than the present
 * price.
 * @returns undefined when the cap does not allow that
 */
export function raise(last: Fees, market: Market, cap: bigint): Fees | undefined {
  const fresh = quote(market, cap);
  const maxFeePerGas = greatest(raised(last.maxFeePerGas), fresh?.maxFeePerGas ?? 0n);
  if (maxFeePerGas > cap) return undefined;
  if (last.maxPriorityFeePerGas === null) return { maxFeePerGas, maxPriorityFeePerGas: null };
  const tip = greatest(raised(last.maxPriorityFeePerGas), fresh?.maxPriorityFeePerGas ?? 0n);
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}

/** Raises a value by an eighth, rounded up. */
const raised = (fee: bigint) => fee + (fee + 7n) / 8n;
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);
