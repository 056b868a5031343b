import { expect, test } from 'vitest';
import { priceFor } from '../../src/events/eligibility/price.ts';

const of = (price: number | null, discountPrice: number | null, discountPercentage: number | null) => ({
  price,
  discountPrice,
  discountPercentage,
});

test.for([
  [of(45.5, 30, null), false, 2, '45.5'],
  [of(45.5, 30, null), true, 2, '30'],
  [of(45.5, 30, 12.5), true, 2, '30'],
  [of(45.5, null, null), true, 2, '45.5'],
  [of(null, null, 50), true, 2, null],
  [of(null, 30, null), true, 2, '30'],
  [of(null, 30, null), false, 2, null],
  [of(0, null, 50), true, 2, '0'],
  [of(5, null, 100), true, 2, '0'],
  [of(5, null, 0), true, 2, '5'],
  // As floating point, 1.1 less 10 % would be 0.9900000000000001.
  [of(1.1, null, 10), true, 2, '0.99'],
  [of(0.05, null, 50), true, 2, '0.03'],
  [of(45.5, null, 15), true, 2, '38.68'],
  [of(3, null, 10), true, 0, '3'],
  [of(3, null, 20), true, 0, '2'],
  // A discount never raises a price that is finer than its currency.
  [of(1.005, null, 0), true, 2, '1.005'],
  [of(1.005, null, 0.1), true, 2, '1'],
  [of(0.5, null, 0), true, 0, '0.5'],
  [of(2.5, null, 1), true, 0, '2'],
  [of(5, 6, null), true, 2, '5'],
  // A token symbol: nobody knows its decimals.
  [of(0.1, null, 33.3), true, undefined, '0.0667'],
  [of(1e-7, null, 50), true, undefined, '0.00000005'],
  [of(1e12, null, 0.1), true, 2, '999000000000'],
] as const)(
  'of %j, with the discount %s and %s decimals, is %s',
  ([event, getsDiscount, decimals, price]) => {
    expect(priceFor(event, getsDiscount, decimals)).toBe(price);
  },
);
