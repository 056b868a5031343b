import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bid,
  bidAfterRejection,
  type Fees,
  type Market,
  outbid,
  quote,
} from '../../src/chain/minting/fees.ts';
import { gasCostOf, gasFor, mostGas, tokensWithin } from '../../src/chain/minting/gas.ts';

const gwei = 1_000_000_000n;

const paidBy = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees, { baseFee }: Market) =>
  maxPriorityFeePerGas === null ? maxFeePerGas : (baseFee ?? 0n) + maxPriorityFeePerGas;

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
      last = bidAfterRejection(last, market, 1_000_000n * gwei);
      if (last !== undefined) offers.push(last);
    }
    return offers;
  };
  test('rises by eighths, and ends just below four times the market, as its maximum does', () => {
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
          expect(offer.maxFeePerGas <= bound).toBe(true);
          const isAtBound = offer.maxFeePerGas === bound && before.maxFeePerGas * 9n > bound * 8n - 8n;
          expect(isAtBound || offer.maxFeePerGas * 8n >= before.maxFeePerGas * 9n).toBe(true);
          const [tip, last] = [offer.maxPriorityFeePerGas ?? 0n, before.maxPriorityFeePerGas ?? 0n];
          expect(tip * 8n >= last * 9n).toBe(true);
          expect(paidBy(offer, market) <= bound).toBe(true);
        }
        expect(offers.length).toBeLessThan(25);
        // The price and the maximum may both be an eighth short.
        expect(paidBy(offers.at(-1) ?? first, market) * 81n + 81n * 2n > bound * 64n).toBe(true);
      }),
    );
  });

  test('stays within four times the dearest market, however base fee and tip move while it waits', () => {
    const fee = fc.bigInt(0n, 1_000n * gwei);
    const moves = fc.array(fc.record({ baseFee: fee, suggested: fee }), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(moves, (markets) => {
        let last: Fees | undefined;
        let dearest = 0n;
        for (const market of markets) {
          const price = market.baseFee + market.suggested;
          dearest = price > dearest ? price : dearest;
          const bound = 4n * dearest > gwei ? 4n * dearest : gwei;
          if (last !== undefined) expect(last.maxFeePerGas <= bound).toBe(true);
          last = last
            ? (bidAfterRejection(last, market, 1_000_000n * gwei) ?? last)
            : quote(market, gwei ** 2n);
          if (last !== undefined) expect(last.maxFeePerGas <= bound).toBe(true);
        }
      }),
    );
  });

  test('ends where the market has fallen to less than a quarter of it', () => {
    const market = { baseFee: gwei, suggested: gwei };
    const last = { maxFeePerGas: 90n * gwei, maxPriorityFeePerGas: 9n * gwei };
    expect(bidAfterRejection(last, market, 1_000n * gwei)).toBeUndefined();
  });
});

describe('an attempt is outbid', () => {
  test('by an eighth though the market asks no more, and not above the cap', () => {
    for (const maxPriorityFeePerGas of [7n * gwei, null]) {
      const last = { maxFeePerGas: 80n * gwei, maxPriorityFeePerGas };
      const market = {
        baseFee: maxPriorityFeePerGas && 73n * gwei,
        suggested: maxPriorityFeePerGas ?? 80n * gwei,
      };
      const tip = maxPriorityFeePerGas === null ? null : (63n * gwei) / 8n;
      const next = { maxFeePerGas: 90n * gwei, maxPriorityFeePerGas: tip };
      expect(outbid(last, market, 90n * gwei)).toEqual(next);
      expect(outbid(last, market, 79n * gwei)).toBeUndefined();
    }
  });

  test('again and again only as long as it pays at most a quarter more than the market asks', () => {
    const fee = fc.bigInt(1n, 1_000n * gwei);
    fc.assert(
      fc.property(fee, fee, fc.boolean(), (base, suggested, isLegacy) => {
        const market = { baseFee: isLegacy ? null : base, suggested };
        const price = (isLegacy ? 0n : base) + suggested;
        let last = quote(market, 1_000_000n * gwei);
        let raises = 0;
        for (; last !== undefined && raises < 300; raises += 1) {
          expect(paidBy(last, market) * 4n <= price * 5n).toBe(true);
          last = outbid(last, market, 1_000_000n * gwei);
        }
        expect(raises).toBeLessThan(300);
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
