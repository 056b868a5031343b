import { describe, expect, test } from 'vitest';
import { addressFault, checksumAddress, parseAddress } from '../../src/chain/address.ts';

const checksum = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const lower = checksum.toLowerCase();
const upper = `0x${checksum.slice(2).toUpperCase()}`;
const place = { in: 'query', name: 'address' } as const;

describe('an address', () => {
  test.each([checksum, lower, upper])('is read in any case: %s', (text) => {
    expect(parseAddress(text, place)).toEqual({ lower, checksum });
  });

  test('with a wrong checksum is refused, naming the parameter', () => {
    const wrong = checksum.replace('aA', 'Aa');
    expect(checksumAddress(wrong)).toBeUndefined();
    expect(() => parseAddress(wrong, place)).toThrow(
      expect.objectContaining({
        code: 'input_invalid',
        message: 'address has a wrong EIP-55 checksum',
        errors: [{ in: 'query', name: 'address', message: 'address has a wrong EIP-55 checksum' }],
      }),
    );
  });

  test.each([
    ['nothing', ''],
    ['41 digits', `${lower}0`],
    ['39 digits', lower.slice(0, -1)],
    ['no prefix', lower.slice(2)],
    ['a capital prefix', upper.replace('0x', '0X')],
    ['another letter', `${lower.slice(0, -1)}g`],
    ['a line break after it', `${lower}\n`],
    ['an ICAP number', 'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS'],
    ['a name', 'vitalik.eth'],
  ])('of another form is refused: %s', (_what, text) => {
    expect(addressFault(text, { in: 'body', pointer: '/recipient' })).toEqual({
      in: 'body',
      pointer: '/recipient',
      message: 'recipient must be 0x and 40 hex digits',
    });
  });

  test('whose digits have no letters has no case to be wrong', () => {
    const zero = `0x${'0'.repeat(40)}`;
    expect(checksumAddress(zero)).toBe(zero);
  });
});
