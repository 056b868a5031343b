import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateKey, hashKey, isWellFormedKey, keyHint } from '../../src/keys/key-format.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('a generated key', () => {
  test('names its environment and is well formed there and nowhere else', () => {
    const key = generateKey('live');
    expect(key).toMatch(/^tk_live_[0-9A-Za-z]{36}$/);
    expect(isWellFormedKey(key, 'live')).toBe(true);
    expect(isWellFormedKey(key, 'test')).toBe(false);
  });

  test('holds more than 160 random bits', () => {
    expect(30 * Math.log2(alphabet.length)).toBeGreaterThan(160);
    const keys = Array.from({ length: 2_000 }, () => generateKey('live'));
    expect(new Set(keys.map((key) => key.slice(8, 38))).size).toBe(2_000);
  });

  test('favours no digit', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 3_000; index += 1) {
      for (const digit of generateKey('live').slice(8, 38)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    }
    const expected = (3_000 * 30) / alphabet.length;
    const deviations = [...alphabet].map((digit) => ((counts.get(digit) ?? 0) - expected) ** 2 / expected);
    // Chi-squared with 61 degrees of freedom is above 130 once in a million runs.
    expect(deviations.reduce((sum, deviation) => sum + deviation, 0)).toBeLessThan(130);
  });

  test('leaves out the bytes that would favour the first digits', () => {
    const bytes = [255, 248, 61, 62, 0];
    const random = (size: number) => Buffer.from(Array.from({ length: size }, (_, at) => bytes[at % 5] ?? 0));
    expect(generateKey('live', random).slice(8, 38)).toBe('z00'.repeat(10));
  });
});

describe('the form of a key', () => {
  const key = generateKey('live');

  test('is broken by any single other character', () => {
    const place = fc.integer({ min: 0, max: key.length - 1 });
    const digit = fc.constantFrom(...alphabet, '_', '-', ' ', '\n', 'é');
    fc.assert(
      fc.property(place, digit, (at, character) => {
        fc.pre(key[at] !== character);
        expect(isWellFormedKey(key.slice(0, at) + character + key.slice(at + 1), 'live')).toBe(false);
      }),
    );
  });

  test('is broken by anything before, after or missing', () => {
    const broken = ['', 'tk_live_', `${key}\n`, ` ${key}`, `${key}0`, key.slice(0, -1), key.toUpperCase()];
    for (const text of broken) expect(isWellFormedKey(text, 'live')).toBe(false);
  });

  test('is not found in any text of another make', () => {
    fc.assert(fc.property(fc.string(), (text) => !isWellFormedKey(text, 'live')));
  });
});

test('a hint shows the environment and four characters, a hash nothing', () => {
  const key = generateKey('live');
  expect(keyHint(key)).toBe(`tk_live_${key.slice(8, 12)}…`);
  expect(hashKey('abc').toString('hex')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});
