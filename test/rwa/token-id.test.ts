import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rwaNumberOf, serialText, tokenIdOf } from '../../src/rwa/assets/token-id.ts';

const part = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });

describe('a token id', () => {
  test('has the number of the RWA above 64 bits', () => {
    expect(rwaNumberOf('18446744073709551658')).toBe(1n);
  });

  test('gives back the number of the RWA that it was made of, for all of them', () => {
    fc.assert(
      fc.property(part, part, (rwaNumber, lower) => {
        expect(rwaNumberOf(tokenIdOf(rwaNumber, lower))).toBe(rwaNumber);
      }),
    );
  });

  test.each([
    '0',
    '42',
    '18446744073709551616',
    `${2n ** 127n + 1n}`,
    `${2n ** 64n + 2n ** 63n}`,
    '9'.repeat(78),
    '018446744073709551658',
  ])('that no NFT can have is known as such: %s', (tokenId) => {
    expect(rwaNumberOf(tokenId)).toBeUndefined();
  });
});

describe('a serial', () => {
  test('is padded to six digits and grows beyond them', () => {
    expect(serialText(42n)).toBe('000042');
    expect(serialText(1_234_567n)).toBe('1234567');
  });
});
