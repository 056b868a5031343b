/** What a unit of gas may cost, in wei. */
export type Fees = {
  readonly maxFeePerGas: bigint;
  /** null on a network without a base fee: then the other one is its gas price. */
  readonly maxPriorityFeePerGas: bigint | null;
};

/** Fees as people and logs read them: decimal texts. */
export const feesInWords = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees) => ({
  maxFeePerGas: maxFeePerGas.toString(),
  maxPriorityFeePerGas: maxPriorityFeePerGas?.toString(),
});

/** Present prices, in wei. */
export type Market = {
  /** Of the newest block; null on a network without one. */
  readonly baseFee: bigint | null;
  /** What nodes suggest for the miner, or as the gas price where there is no base fee. */
  readonly suggested: bigint;
};

/**
 * Fees for a first attempt: they stay good while the base fee doubles, within the cap.
 * @returns undefined when even the present price is above the cap
 */
export function quote({ baseFee, suggested }: Market, cap: bigint): Fees | undefined {
  if (baseFee === null) {
    return suggested > cap ? undefined : { maxFeePerGas: suggested, maxPriorityFeePerGas: null };
  }
  if (baseFee + suggested > cap) return undefined;
  return { maxFeePerGas: least(2n * baseFee + suggested, cap), maxPriorityFeePerGas: suggested };
}

/**
 * Fees that replace an attempt: both at least 12.5 % higher (nodes want 10 %), and no less than what the
 * market asks for now.
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

/** An eighth more, rounded up. */
const raised = (fee: bigint) => fee + (fee + 7n) / 8n;
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);
