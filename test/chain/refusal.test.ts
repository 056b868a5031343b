import { describe, expect, test } from 'vitest';
import { betterOffer, hintOf, isReplaceable } from '../../src/chain/minting/refusal.ts';

const ether = 10n ** 18n;
const gwei = 1_000_000_000n;

describe('what a node says suggests what to try first', () => {
  test.each([
    ['already known', { first: 'wait' }],
    ['nonce too low: next nonce 5, tx nonce 4', { first: 'nonce' }],
    ['transaction type not supported', { first: 'type' }],
    ['intrinsic gas too low: gas 21000, minimum needed 21484', { first: 'gas', figure: 21_484n }],
    ['tx fee (1.20 FTM) exceeds the configured cap (1.00 FTM)', { first: 'size', mostCost: ether }],
    ['tx fee (12 wei) exceeds the configured cap (10 wei)', { first: 'size', mostCost: 10n }],
    ['transaction gas limit too high (cap: 16777216, tx: 20000000)', { first: 'size', figure: 16_777_216n }],
    ['oversized data: transaction size 131073, limit 131072', { first: 'size' }],
    ['gas tip cap 1, minimum needed 25000000000', { first: 'price', figure: 25n * gwei }],
    ['transaction gas price below minimum: gas tip cap 0, minimum needed 7', { first: 'price', figure: 7n }],
    ['tip needed 30 gwei', { first: 'price', figure: 30n * gwei }],
    ['transaction underpriced', { first: 'price' }],
    ['max fee per gas less than block base fee: maxFeePerGas: 1, baseFee: 2', { first: 'price' }],
    ['replacement transaction underpriced', { first: 'price' }],
    ['FeeTooLow', { first: 'price' }],
    ['insufficient funds for gas * price + value: minimum needed 7', { first: 'again' }],
    ['Upfront cost exceeds account balance', { first: 'again' }],
    [
      'insufficient funds for intrinsic transaction cost; insufficient funds for gas * price + value',
      { first: 'again' },
    ],
    ['insufficient funds; tip needed 7 wei', { first: 'price', figure: 7n }],
    ['Internal error', { first: 'again' }],
    ['in-flight transaction limit reached for delegated accounts', { first: 'again' }],
    ['txpool is full', { first: 'again' }],
    ['nonce too far in the future', { first: 'again' }],
    ['multiple senders: at least 3 feeds are needed', { first: 'again' }],
    ['der Knoten mag das nicht', { first: 'again' }],
  ])('%s', (words, hint) => {
    expect(hintOf(words)).toEqual(hint);
  });
});

describe('a better offer', () => {
  const last = { fees: { maxFeePerGas: 3n * gwei, maxPriorityFeePerGas: gwei }, gasLimit: 100_000n };
  const market = { baseFee: gwei, suggested: gwei };
  const bounds = { cap: 100n * gwei, mostGas: 150_000n };
  const offer = (words: string) => betterOffer(last, market, hintOf(words), bounds);

  test('comes after three looks, or at once for a figure', () => {
    const isMade = (words: string, looks: number) => isReplaceable(hintOf(words), last, looks);
    expect([isMade('underpriced', 2), isMade('underpriced', 3)]).toEqual([false, true]);
    // An eighth of the 2 gwei that it pays.
    expect(offer('underpriced')?.fees.maxPriorityFeePerGas).toBe((gwei * 5n) / 4n);
    expect(isMade('tip needed 5 gwei', 1)).toBe(true);
    expect(offer('tip needed 5 gwei')?.fees.maxPriorityFeePerGas).toBe(5n * gwei);
  });

  test('is none for a figure above the cap', () => {
    expect(offer('tip needed 100 gwei')).toBeUndefined();
  });

  test.each([
    'Internal error',
    'insufficient funds for gas * price + value',
    'oversized data',
    'already known',
  ])('costs no more for words that name no price: %s', (words) => {
    expect(isReplaceable(hintOf(words), last, 1_000)).toBe(words === 'oversized data');
    expect(offer(words)).toBeUndefined();
  });

  test('has twice the gas at the same price, or is none where that is too much', () => {
    expect(offer('intrinsic gas too low')).toBeUndefined();
    const half = { ...last, gasLimit: 50_000n };
    expect(betterOffer(half, market, hintOf('intrinsic gas too low'), bounds)).toEqual({ ...last });
  });
});
