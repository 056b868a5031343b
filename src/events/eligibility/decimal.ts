/** A decimal number: its digits, of which so many stand behind the point. */
export type Decimal = { readonly digits: bigint; readonly scale: number };

/** The decimal number that a caller wrote: JavaScript writes a double by the fewest digits that mean it. */
export function toDecimal(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [before = '', behind = ''] = mantissa.split('.');
  // No amount is large enough to be written with a positive exponent.
  return { digits: BigInt(before + behind), scale: behind.length - Number(exponent) };
}

export const digitsAt = ({ digits, scale }: Decimal, wanted: number): bigint =>
  digits * 10n ** BigInt(wanted - scale);
