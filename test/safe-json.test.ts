import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeJson, safeJsonText } from '../src/base/json/safe-json.ts';

const lone = '\ud83d';

test('replaces what parsers and jsonb refuse, and nothing else', () => {
  const value = { [`a${lone}`]: ['b\0c', `${lone}😀`, '\\ud83d', '\\u0000'], n: 1 };
  expect(JSON.parse(safeJson(value) ?? '')).toEqual({
    'a\ufffd': ['b\ufffdc', '\ufffd😀', '\\ud83d', '\\u0000'],
    n: 1,
  });
  expect(safeJson(undefined)).toBeUndefined();
});

test('replaces it in texts that hold JSON, where pairs are written as escapes', () => {
  expect(safeJsonText('{"a":"\\ud83d\\ude00 \\uD83D \\u0000 \\\\u0000"}')).toBe(
    '{"a":"\\ud83d\\ude00 \\ufffd \\ufffd \\\\u0000"}',
  );
  expect(safeJsonText(`no json ${lone}\0`)).toBe('no json \ufffd\ufffd');
});

test('of any value, gives JSON whose texts are well-formed and without NUL', () => {
  const units = fc.constantFrom('\ud83d', '\ude00', '\0', '\\', 'u', '0000', 'd83d', '"', 'é');
  const texts = fc.array(units).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      const read: string = JSON.parse(safeJson(text) ?? '');
      expect(read).toBe(text.toWellFormed().replaceAll('\0', '\ufffd'));
      // A text in a text, as the metadata of an NFT are.
      const inner: string = JSON.parse(safeJsonText(JSON.stringify(text)));
      expect(inner).toBe(read);
    }),
    { numRuns: 2_000 },
  );
});
