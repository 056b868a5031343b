import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CursorScope, createCursors, type PageStart } from '../../src/blockchain/cursor.ts';
import { maxPositionLength } from '../../src/providers/shared/provider.ts';

const key = (byte: number) => Buffer.alloc(32, byte);
const cursors = createCursors(new Map([['new', key(1)]]));
const scope: CursorScope = {
  operation: 'getWalletHistory',
  dataProvider: 'moralis',
  chainId: '1',
  address: `0x${'ab'.repeat(20)}`,
};
const start: PageStart = { order: 'ASC', limit: 25, page: 3, position: 'eyJhbGciOi.J9', search: {} };
const cursor = cursors.seal(scope, start);

const starts = fc.record({
  order: fc.constantFrom('ASC' as const, 'DESC' as const),
  limit: fc.integer({ min: 1, max: 100 }),
  page: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  position: fc.string({ unit: 'grapheme-ascii', maxLength: maxPositionLength }),
  search: fc.dictionary(fc.constantFrom('token', 'category', 'fromBlock'), fc.string(), {
    noNullPrototype: true,
  }),
});

describe('a cursor', () => {
  test('gives back what was sealed for this list, whatever the provider calls its position', () => {
    fc.assert(
      fc.property(starts, (sealed) => {
        expect(cursors.open(scope, cursors.seal(scope, sealed))).toEqual(sealed);
      }),
    );
  });

  test('is short and needs no encoding in a URL, and the longest fits the contract', () => {
    expect(cursor).toMatch(/^[A-Za-z0-9_-]{48}$/);
    const address = `0x${'ab'.repeat(20)}`;
    const search = { contract: Array(10).fill(address).join(), includeSpam: 'false', toDate: '9999-12-31' };
    const longest = cursors.seal(scope, { ...start, position: 'x'.repeat(maxPositionLength), search });
    expect(longest.length).toBeLessThanOrEqual(4_096);
  });

  test.each([
    { operation: 'listWalletNfts' },
    { dataProvider: 'indexer' },
    { chainId: '137' },
    { address: `0x${'cd'.repeat(20)}` },
  ] as const)('opens for its own list only, not for %j', (changes) => {
    expect(cursors.open({ ...scope, ...changes }, cursor)).toBeUndefined();
  });

  test('does not open once any character of it is another, gone or added', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. ';
    for (const [place, was] of [...cursor].entries()) {
      const [before, after] = [cursor.slice(0, place), cursor.slice(place + 1)];
      expect(cursors.open(scope, before + after)).toBeUndefined();
      expect(cursors.open(scope, before)).toBeUndefined();
      for (const other of alphabet) {
        if (other !== was) expect(cursors.open(scope, before + other + after)).toBeUndefined();
        expect(cursors.open(scope, before + other + was + after)).toBeUndefined();
      }
    }
    for (const other of alphabet) expect(cursors.open(scope, cursor + other)).toBeUndefined();
  });

  test('does not open for any text that we did not seal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' })), (text) => {
        expect(cursors.open(scope, text)).toBeUndefined();
      }),
    );
  });
});

describe('keys', () => {
  test('all verify and the first signs, so that a key can be replaced while cursors are out', () => {
    const rotated = createCursors(
      new Map([
        ['newer', key(2)],
        ['new', key(1)],
      ]),
    );
    expect(rotated.open(scope, cursor)).toEqual(start);
    expect(cursors.open(scope, rotated.seal(scope, start))).toBeUndefined();
    const without = createCursors(new Map([['newer', key(2)]]));
    expect(without.open(scope, cursor)).toBeUndefined();
    expect(without.open(scope, rotated.seal(scope, start))).toEqual(start);
  });

  test('are needed', () => {
    expect(() => createCursors(new Map())).toThrow('at least one key');
  });
});
