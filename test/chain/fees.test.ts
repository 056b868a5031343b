import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bid,
  dearerMarket,
  type Fees,
  type Market,
  outbidding,
  quote,
} from '../../src/chain/minting/fees.ts';
import { gasCostOf, gasFor, mostGas, tokensWithin } from '../../src/chain/minting/gas.ts';

const gwei = 1_000_000_000n;

describe('fees', () => {
  test('stay good while the base fee doubles, within the cap', () => {
    const market = { baseFee: 10n * gwei, suggested: 2n * gwei };
    expect(quote(market, 100n * gwei)).toEqual({ maxFeePerGas: 22n * gwei, maxPriorityFeePerGas: 2n * gwei });
    expect(quote(market, 15n * gwei)).toEqual({ maxFeePerGas: 15n * gwei, maxPriorityFeePerGas: 2n * gwei });
    expect(quote(market, 11n * gwei)).toBeUndefined();
  });

  test('reach a tip that is asked for while the maximum is the cap already', () => {
    const last = { maxFeePerGas: 100n * gwei, maxPriorityFeePerGas: gwei };
    const next = { maxFeePerGas: 100n * gwei, maxPriorityFeePerGas: 25n * gwei };
    expect(bid(last, { baseFee: 60n * gwei, suggested: 25n * gwei }, 100n * gwei)).toEqual(next);
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
        const next = bid(last, { baseFee: legacy ? null : base, suggested }, 500n * gwei);
        if (next === undefined) return;
        expect(next.maxFeePerGas <= 500n * gwei).toBe(true);
        const isAtCap = next.maxFeePerGas === 500n * gwei && next.maxFeePerGas >= last.maxFeePerGas;
        expect(isAtCap || next.maxFeePerGas * 8n >= last.maxFeePerGas * 9n).toBe(true);
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
        expect(bid(offered, { baseFee: base, suggested }, cap)).toBeUndefined();
      }),
    );
  });

  test('never pays more than a quarter above what the market asks', () => {
    fc.assert(
      fc.property(fee, fee, fee, fee, (max, tip, baseFee, suggested) => {
        const last = { maxFeePerGas: max + tip, maxPriorityFeePerGas: tip };
        const next = bid(last, { baseFee, suggested }, cap);
        if (next === undefined || next.maxPriorityFeePerGas === null) return;
        const whole = baseFee + next.maxPriorityFeePerGas;
        const most = ((baseFee + suggested) * 5n) / 4n;
        expect(whole <= most || next.maxFeePerGas <= most).toBe(true);
      }),
    );
  });
});

describe('a price that nodes reject without a figure', () => {
  /** What is offered, refusal after refusal. */
  const rejected = (first: Fees, market: Market): Fees[] => {
    const offers = [first];
    for (let last: Fees | undefined = first; last !== undefined && offers.length < 100; ) {
      const asked = dearerMarket(last, market);
      last = asked && bid(last, asked, 1_000_000n * gwei);
      if (last !== undefined) offers.push(last);
    }
    return offers;
  };
  const paidBy = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees, { baseFee }: Market) =>
    maxPriorityFeePerGas === null ? maxFeePerGas : (baseFee ?? 0n) + maxPriorityFeePerGas;

  test('rises by eighths, each fee by as much at least, and ends an eighth below four times the market', () => {
    const fee = fc.bigInt(0n, 1_000n * gwei);
    fc.assert(
      fc.property(fee, fee, fc.boolean(), (base, suggested, isLegacy) => {
        const market = { baseFee: isLegacy ? null : base, suggested };
        const price = (isLegacy ? 0n : base) + suggested;
        const bound = 4n * price > gwei ? 4n * price : gwei;
        const first = quote(market, 1_000_000n * gwei);
        if (first === undefined) return;
        const offers = rejected(first, market);
        for (const [index, offer] of offers.slice(1).entries()) {
          const before = offers[index] ?? first;
          expect(offer.maxFeePerGas * 8n >= before.maxFeePerGas * 9n).toBe(true);
          const [tip, last] = [offer.maxPriorityFeePerGas ?? 0n, before.maxPriorityFeePerGas ?? 0n];
          expect(tip * 8n >= last * 9n).toBe(true);
          expect(paidBy(offer, market) <= bound).toBe(true);
        }
        expect(offers.length).toBeLessThan(25);
        expect(paidBy(offers.at(-1) ?? first, market) * 9n + 9n > bound * 8n).toBe(true);
      }),
    );
  });

  test('ends where the market has fallen to less than a quarter of it', () => {
    const market = { baseFee: gwei, suggested: gwei };
    expect(
      dearerMarket({ maxFeePerGas: 90n * gwei, maxPriorityFeePerGas: 9n * gwei }, market),
    ).toBeUndefined();
  });

  test('is outbid by an eighth whatever the market asks, and not above the cap', () => {
    for (const maxPriorityFeePerGas of [7n * gwei, null]) {
      const last = { maxFeePerGas: 80n * gwei, maxPriorityFeePerGas };
      const tip = maxPriorityFeePerGas === null ? null : (63n * gwei) / 8n;
      const next = { maxFeePerGas: 90n * gwei, maxPriorityFeePerGas: tip };
      expect(bid(last, outbidding(last), 90n * gwei)).toEqual(next);
      expect(bid(last, outbidding(last), 79n * gwei)).toBeUndefined();
    }
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
