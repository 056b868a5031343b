import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quote, raise } from '../../src/chain/minting/fees.ts';
import { gasCostOf, gasFor, mostGas, tokensWithin } from '../../src/chain/minting/gas.ts';

const gwei = 1_000_000_000n;

describe('fees', () => {
  test('stay good while the base fee doubles, within the cap', () => {
    const market = { baseFee: 10n * gwei, suggested: 2n * gwei };
    expect(quote(market, 100n * gwei)).toEqual({ maxFeePerGas: 22n * gwei, maxPriorityFeePerGas: 2n * gwei });
    expect(quote(market, 15n * gwei)).toEqual({ maxFeePerGas: 15n * gwei, maxPriorityFeePerGas: 2n * gwei });
    expect(quote(market, 11n * gwei)).toBeUndefined();
  });

  test('are one price where there is no base fee', () => {
    const market = { baseFee: null, suggested: 3n * gwei };
    expect(quote(market, 5n * gwei)).toEqual({ maxFeePerGas: 3n * gwei, maxPriorityFeePerGas: null });
    expect(quote(market, 2n * gwei)).toBeUndefined();
  });

  test('that replace others are both at least 12.5 % higher, or there are none within the cap', () => {
    const fee = fc.bigInt(1n, 1_000n * gwei);
    fc.assert(
      fc.property(fee, fee, fee, fee, fc.boolean(), (max, tip, base, suggested, legacy) => {
        const last = { maxFeePerGas: max + tip, maxPriorityFeePerGas: legacy ? null : tip };
        const next = raise(last, { baseFee: legacy ? null : base, suggested }, 500n * gwei);
        if (next === undefined) return;
        expect(next.maxFeePerGas <= 500n * gwei).toBe(true);
        expect(next.maxFeePerGas * 8n >= last.maxFeePerGas * 9n).toBe(true);
        if (last.maxPriorityFeePerGas === null || next.maxPriorityFeePerGas === null) return;
        expect(next.maxPriorityFeePerGas * 8n >= last.maxPriorityFeePerGas * 9n).toBe(true);
        expect(next.maxPriorityFeePerGas <= next.maxFeePerGas).toBe(true);
      }),
    );
  });
});

describe('a raise', () => {
  const fee = fc.bigInt(1n, 1_000n * gwei);
  const cap = 10_000n * gwei;

  test('never comes while the present fees suffice', () => {
    fc.assert(
      fc.property(fee, fee, fee, fee, (base, suggested, more, tip) => {
        const offered = { maxFeePerGas: base + suggested + more, maxPriorityFeePerGas: suggested + tip };
        expect(raise(offered, { baseFee: base, suggested }, cap)).toBeUndefined();
      }),
    );
  });

  test('never pays more than a quarter above what the market asks', () => {
    fc.assert(
      fc.property(fee, fee, fee, fee, (max, tip, baseFee, suggested) => {
        const last = { maxFeePerGas: max + tip, maxPriorityFeePerGas: tip };
        const next = raise(last, { baseFee, suggested }, cap);
        if (next === undefined || next.maxPriorityFeePerGas === null) return;
        const whole = baseFee + next.maxPriorityFeePerGas;
        const most = ((baseFee + suggested) * 5n) / 4n;
        expect(whole <= most || next.maxFeePerGas <= most).toBe(true);
      }),
    );
  });
});

describe('gas', () => {
  const half = { blockGasLimit: 60_000_000n, blockShare: 50 };

  test('of our contract lets some 340 tokens into one transaction', () => {
    const cost = gasCostOf(71_487n);
    const tokens = tokensWithin(cost, mostGas(half));
    expect(tokens).toBe(341);
    expect(gasFor(cost, tokens)).toBeLessThanOrEqual(16_777_216n);
  });

  test('of a dearer contract, a small block or a small purse lets fewer in, down to none', () => {
    expect(tokensWithin(gasCostOf(150_000n), mostGas(half))).toBe(133);
    expect(tokensWithin(gasCostOf(0n), mostGas({ ...half, blockGasLimit: 2_000_000n }))).toBe(19);
    expect(tokensWithin(gasCostOf(0n), 88_999n)).toBe(0);
  });
});
