import { formatUnits } from '../../chain/decimal.ts';
import { digitsAt, toDecimal } from './decimal.ts';

type Prices = {
  readonly price: number | null;
  readonly discountPrice: number | null;
  readonly discountPercentage: number | null;
};

/**
 * What a ticket costs, as an exact decimal: with the discount, the discounted price, or else the price less the percentage.
 * @param decimals of the currency, to which the price less the percentage is rounded, half up, but never above the price; undefined
 *   where they are not known
 * @returns null when the event has no price
 */
export function priceFor(
  { price, discountPrice, discountPercentage }: Prices,
  getsDiscount: boolean,
  decimals: number | undefined,
): string | null {
  if (getsDiscount && discountPrice !== null) {
    return textOf(price !== null && discountPrice > price ? price : discountPrice);
  }
  if (price === null) return null;
  if (!getsDiscount || discountPercentage === null) return textOf(price);
  const [full, percentage] = [toDecimal(price), toDecimal(discountPercentage)];
  const share = 100n * 10n ** BigInt(percentage.scale) - percentage.digits;
  const exact = { digits: full.digits * share, scale: full.scale + percentage.scale + 2 };
  const surplus = decimals === undefined ? 0 : exact.scale - decimals;
  if (surplus <= 0) return formatUnits(exact.digits, exact.scale);
  const unit = 10n ** BigInt(surplus);
  const rounded = (2n * exact.digits + unit) / (2n * unit);
  // A price may be finer than its currency, such as 1.005.
  if (rounded * unit > digitsAt(full, exact.scale)) return textOf(price);
  return formatUnits(rounded, exact.scale - surplus);
}

const textOf = (value: number): string => {
  const { digits, scale } = toDecimal(value);
  return formatUnits(digits, scale);
};
