import { describe, expect, test } from 'vitest';
import { assertMatch, entityTag } from '../../src/contract/entity-tag.ts';

const values = ['3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11', '1', 0];
const tag = entityTag(...values);

/** The code of the problem that the header leads to; undefined when it allows the change. */
function problemOf(header: string | undefined): string | undefined {
  try {
    assertMatch(header, tag);
  } catch (error) {
    return (error as { code: string }).code;
  }
  return undefined;
}

describe('an entity tag', () => {
  test('is strong and quoted', () => {
    expect(tag).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
  });

  test('is the same for what is the same', () => {
    expect(entityTag(...values)).toBe(tag);
  });

  test.each([[['other', '1', 0]], [['3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11', '1', 1]], [[]]])(
    'is another one with %j',
    (other) => {
      expect(entityTag(...other)).not.toBe(tag);
    },
  );
});

describe('an If-Match', () => {
  const core = tag.slice(1, -1);
  const allowed = [undefined, '*', ' * ', tag, `"other", ${tag}`, `"a,b" ,${tag},"c"`, `W/${tag}, ${tag}`];
  const weakened = [`W/${tag}`, `W/${tag}, "other"`, `"other", W/"x"`].concat(
    ['-gzip', ';gzip', ':br'].map((suffix) => `"${core}${suffix}"`),
  );
  const others = ['"other"', '"a", "b"', core, `"${core}more"`, tag.slice(0, -1), `"${values[0]}"`];

  test.each([
    ...allowed.map((header) => [header, undefined]),
    ...weakened.map((header) => [header, 'etag_weakened']),
    ...[...others, '"*"', 'nonsense', '', '**'].map((header) => [header, 'precondition_failed']),
  ])('of %j comes to %s', (header, code) => {
    expect(problemOf(header)).toBe(code);
  });
});
