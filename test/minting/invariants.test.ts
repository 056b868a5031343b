import { describe, expect, test } from 'vitest';
import { dearness } from './invariants.ts';

const gwei = 1_000_000_000n;

describe('the price that a mint pays', () => {
  test.each([
    ['a quarter above the market', 10n * gwei, 8n * gwei, []],
    ['four times the market after a refusal', 32n * gwei, 8n * gwei, ['no']],
    ['1 gwei after a refusal, where gas is free', gwei, 0n, ['no']],
  ])('may be %s', (_what, price, market, refusals) => {
    expect(dearness(price, market, refusals)).toEqual([]);
  });

  test.each([
    ['more than a quarter above the market', 10n * gwei + 1n, 8n * gwei, []],
    ['more than four times the market after a refusal', 32n * gwei + 1n, 8n * gwei, ['no']],
    ['anything where gas is free', 1n, 0n, []],
    ['more than 1 gwei after a refusal, where gas is free', gwei + 1n, 0n, ['no']],
  ])('is too high when it is %s', (_what, price, market, refusals) => {
    expect(dearness(price, market, refusals)).toEqual([expect.stringContaining(`pays ${price}`)]);
  });
});
