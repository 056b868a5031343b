import { formatUnits as referenceUnits } from 'ethers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatUnits } from '../../src/chain/decimal.ts';

describe('a formatted amount', () => {
  test.each<[bigint, number, string]>([
    [0n, 0, '0'],
    [0n, 18, '0'],
    [5n, 0, '5'],
    [10n, 0, '10'],
    [1_500_000n, 6, '1.5'],
    [2_000_000n, 6, '2'],
    [1n, 18, '0.000000000000000001'],
    [10n ** 30n, 18, '1000000000000'],
    [2n ** 256n - 1n, 77, '1.15792089237316195423570985008687907853269984665640564039457584007913129639935'],
    [1n, 255, `0.${'0'.repeat(254)}1`],
  ])('of %s at %s decimals is %s', (amount, decimals, text) => {
    expect(formatUnits(amount, decimals)).toBe(text);
  });

  test('is what ethers makes of it, but for its ".0"', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 256n - 1n), fc.integer({ min: 0, max: 76 }), (amount, decimals) => {
        expect(formatUnits(amount, decimals)).toBe(referenceUnits(amount, decimals).replace(/\.0$/, ''));
      }),
    );
  });
});
