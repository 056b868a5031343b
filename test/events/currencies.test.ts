import { expect, test } from 'vitest';
import { currencyFault, decimalsOf } from '../../src/events/currencies.ts';

test.each(['EUR', 'JPY', 'USDC', 'USDC.e', 'stETH', '1INCH', 'XYZ', ''])('takes %j', (currency) => {
  expect(currencyFault(currency)).toBeUndefined();
});

test.each([
  ['usd', 'USD'],
  ['Eur', 'EUR'],
])('refuses %s, which is %s mistyped', (currency, capitals) => {
  expect(currencyFault(currency)).toBe(`currency must be written in capitals: ${capitals}`);
});

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  [null, 2],
  ['USDC', undefined],
  ['ETH', undefined],
  ['stETH', undefined],
])('knows the smallest unit of %j by %j decimals', (currency, decimals) => {
  expect(decimalsOf(currency)).toBe(decimals);
});
