import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Fees, outbid } from '../../src/chain/minting/fees.ts';
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
    ['der Knoten mag das nicht', { first: 'price' }],
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
    expect(offer('underpriced')?.fees.maxPriorityFeePerGas).toBe((gwei * 9n) / 8n);
    expect(isMade('tip needed 5 gwei', 1)).toBe(true);
    expect(offer('tip needed 5 gwei')?.fees.maxPriorityFeePerGas).toBe(5n * gwei);
  });

  test('is a higher price where the text suggests what cannot be', () => {
    expect(offer('intrinsic gas too low')).toMatchObject({
      fees: { maxPriorityFeePerGas: (gwei * 9n) / 8n },
    });
  });

  test('doubles what is paid while that is below 1 gwei, and comes from nothing to a floor of 25 gwei in 60 looks', () => {
    let fees: Fees = { maxFeePerGas: 2n * gwei, maxPriorityFeePerGas: 0n };
    let looks = 0;
    for (; (fees.maxPriorityFeePerGas ?? 0n) < 25n * gwei; looks += 1) {
      const before = fees.maxPriorityFeePerGas ?? 0n;
      fees = outbid(fees, { baseFee: gwei, suggested: 0n }, { cap: 500n * gwei, isRefused: true }) ?? fees;
      const step = before < gwei ? 2n * before || 1n : (before * 9n + 7n) / 8n;
      expect(fees.maxPriorityFeePerGas).toBe(step);
    }
    expect(looks).toBeLessThan(60);
  });

  test('raises both fees by an eighth at least, and at least by 1, up to the cap', () => {
    const fee = fc.bigInt(0n, 1_000n * gwei);
    fc.assert(
      fc.property(fee, fee, fee, fee, fc.boolean(), (more, tip, baseFee, suggested, isRefused) => {
        const cap = 500n * gwei;
        const before = { maxFeePerGas: tip + more, maxPriorityFeePerGas: tip };
        const next = outbid(before, { baseFee, suggested }, { cap, isRefused });
        if (next === undefined) {
          expect(before.maxFeePerGas >= cap && tip >= cap).toBe(true);
          return;
        }
        const enough = (from: bigint, to: bigint | null) =>
          to !== null && (to === (from > cap ? from : cap) || (to > from && to * 8n >= from * 9n));
        expect(enough(before.maxFeePerGas, next.maxFeePerGas)).toBe(true);
        expect(enough(tip, next.maxPriorityFeePerGas)).toBe(true);
      }),
    );
  });
});
