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
  test.each([undefined, '*', ' * ', tag, `"other", ${tag}`, `"a,b" ,${tag},"c"`, `W/${tag}, ${tag}`])(
    'allows the change with %j',
    (header) => {
      expect(problemOf(header)).toBeUndefined();
    },
  );

  test.each([
    '"other"',
    `W/${tag}`,
    `W/${tag}, "other"`,
    tag.slice(1, -1),
    '"*"',
    'nonsense',
    '',
    '**',
    `${tag.slice(0, -1)}`,
  ])('allows nothing with %j', (header) => {
    expect(problemOf(header)).toBeDefined();
  });
});

describe('a tag in If-Match', () => {
  const core = tag.slice(1, -1);

  test.each([`W/${tag}`, `"${core}-gzip"`, `"${core};gzip"`, `"${core}:br"`, `"other", W/"x"`])(
    'was weakened in %j',
    (header) => {
      expect(problemOf(header)).toBe('etag_weakened');
    },
  );

  test.each([
    tag,
    '"other"',
    '"a", "b"',
    'nonsense',
    '*',
    '"3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11"',
    `"${core}more"`,
  ])('was not weakened in %j', (header) => {
    expect(problemOf(header)).not.toBe('etag_weakened');
  });
});
