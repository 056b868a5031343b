import { expect, test } from 'vitest';
import { currencyFault } from '../../src/events/currencies.ts';

test.each(['EUR', 'JPY', 'USDC', 'USDC.e', 'stETH', '1INCH', 'XYZ', ''])('takes %j', (currency) => {
  expect(currencyFault(currency)).toBeUndefined();
});

test.each([
  ['usd', 'USD'],
  ['Eur', 'EUR'],
])('refuses %s, which is %s mistyped', (currency, capitals) => {
  expect(currencyFault(currency)).toBe(`currency must be written in capitals: ${capitals}`);
});
