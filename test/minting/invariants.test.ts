import { describe, expect, test } from 'vitest';
import { dearness } from './invariants.ts';

const gwei = 1_000_000_000n;
const offer = (fee: bigint, tip: bigint) => ({ fee: fee * gwei, tip: tip * gwei });

describe('the fees of an attempt', () => {
  test.each([
    ['the first, which lasts until the base fee has doubled', offer(9n, 1n), undefined, 4n, 1n],
    ['a replacement by an eighth at a higher base fee', offer(18n, 9n), offer(16n, 8n), 20n, 1n],
    ['a replacement at a higher tip', offer(18n, 9n), offer(16n, 8n), 1n, 9n],
    ['the same again', offer(200n, 100n), offer(200n, 100n), 1n, 1n],
    ['a new one for less', offer(3n, 1n), offer(200n, 100n), 1n, 1n],
  ])('may be those of %s', (_what, offered, before, baseFee, tip) => {
    expect(dearness(offered, before, baseFee * gwei, tip * gwei)).toBeUndefined();
  });

  test.each([
    ['the first is above what is asked by more than a quarter', offer(12n, 1n), undefined, 4n, 1n],
    ['the first has a tip that nobody suggests', offer(9n, 2n), undefined, 4n, 1n],
    ['a replacement rises though enough was offered', offer(9n, 2n), offer(8n, 1n), 3n, 1n],
    ['a replacement rises by more than it must', offer(60n, 9n), offer(16n, 8n), 20n, 1n],
  ])('are too high when %s', (_what, offered, before, baseFee, tip) => {
    expect(dearness(offered, before, baseFee * gwei, tip * gwei)).toMatch(/^offers \d+ with a tip of/);
  });

  const refused = (looks: number, words = 'no') => ({ looks, words: [words] });

  test.each([
    ['an eighth after three refusals', offer(18n, 9n), offer(16n, 8n), refused(3)],
    ['twice as much below 1 gwei', { fee: 9n * gwei, tip: 2n }, { fee: 8n * gwei, tip: 1n }, refused(4)],
    [
      'the figure that a node names, at once',
      offer(29n, 25n),
      offer(16n, 8n),
      refused(1, 'needed 25000000000'),
    ],
  ])('may rise by %s', (_what, offered, before, refusals) => {
    expect(dearness(offered, before, gwei, gwei, refusals)).toBeUndefined();
  });

  test.each([
    ['a nonce that was refused twice only is replaced', offer(18n, 9n), offer(16n, 8n), refused(2)],
    ['a price doubles without need', offer(18n, 16n), offer(16n, 8n), refused(9)],
    ['a maximum doubles without need', offer(32n, 9n), offer(16n, 8n), refused(9)],
    ['more is offered than a node names', offer(34n, 30n), offer(16n, 8n), refused(9, 'needed 25000000000')],
    [
      'a price rises again after an attempt that was taken',
      offer(18n, 9n),
      offer(16n, 8n),
      { looks: 5, words: [] },
    ],
  ])('are too high when %s', (_what, offered, before, refusals) => {
    expect(dearness(offered, before, gwei, gwei, refusals)).toMatch(/^offers/);
  });
});
