import { AbiCoder, encodeBytes32String, hexlify } from 'ethers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTokenText } from '../../src/chain/token-text.ts';
import { stepsOf } from '../support/decoded.ts';

// fast-check's own unit 'binary' makes a table of all of them first.
const codePoint = fc
  .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
const encode = (text: string) => AbiCoder.defaultAbiCoder().encode(['string'], [text]);

describe('the text of a token', () => {
  test('is read as an ABI string or as bytes32', () => {
    expect(readTokenText(encode('Tether USD'))).toBe('Tether USD');
    expect(readTokenText(encodeBytes32String('MKR'))).toBe('MKR');
    expect(readTokenText(`0x${'41'.repeat(32)}`)).toBe('A'.repeat(32));
    expect(readTokenText(encode('€uro 🪙'))).toBe('€uro 🪙');
    expect(readTokenText(encode('x'.repeat(256)))).toBe('x'.repeat(256));
  });

  test('is null when it is empty, too long or not UTF-8', () => {
    expect(readTokenText('0x')).toBeNull();
    expect(readTokenText(encode(''))).toBeNull();
    expect(readTokenText(encode('x'.repeat(257)))).toBeNull();
    expect(readTokenText(`0x${'00'.repeat(32)}`)).toBeNull();
    expect(readTokenText(`0x${'ff'.repeat(32)}`)).toBeNull();
  });

  test('is any text that was encoded, without NUL', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60, unit: codePoint }), (text) => {
        expect(readTokenText(encode(text))).toBe(text.replaceAll('\0', '') || null);
      }),
    );
  });

  test('is bounded, well-formed text or null for any bytes', () => {
    const word = fc.constantFrom(
      '00'.repeat(32),
      `${'00'.repeat(31)}20`,
      'ff'.repeat(32),
      `${'00'.repeat(31)}05`,
    );
    const bytes = fc.uint8Array({ maxLength: 64 }).map((array) => hexlify(array).slice(2));
    fc.assert(
      fc.property(fc.array(fc.oneof(word, bytes), { maxLength: 6 }), (parts) => {
        const text = readTokenText(`0x${parts.join('')}`);
        if (text === null) return;
        expect(text.isWellFormed() && text.length <= 256 && !text.includes('\0')).toBe(true);
      }),
    );
  });

  test('is decoded as far as it may be long, however much a contract answers', async () => {
    const name = encode('x'.repeat(262_000));
    expect(await stepsOf(() => expect(readTokenText(name)).toBeNull())).toBeLessThan(1_100);
    const padded = encode('Coin') + '00'.repeat(262_000);
    expect(await stepsOf(() => expect(readTokenText(padded)).toBe('Coin'))).toBe(4);
    const uri = 'x'.repeat(60_000);
    const encoded = encode(uri);
    expect(await stepsOf(() => expect(readTokenText(encoded, 100_000)).toBe(uri))).toBe(60_000);
  });

  test('may be padded with NUL, and stand anywhere in the answer', () => {
    expect(readTokenText(encode(`Coin${'\0'.repeat(60)}`))).toBe('Coin');
    expect(readTokenText(encode('\u20ac'.repeat(256)))).toBe('\u20ac'.repeat(256));
    const coder = AbiCoder.defaultAbiCoder();
    expect(readTokenText(coder.encode(['string', 'string'], ['first', 'second']))).toBe('first');
    expect(readTokenText(`${encode('x'.repeat(40)).slice(0, -2)}`)).toBe('x'.repeat(40));
  });
});
