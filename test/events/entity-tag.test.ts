import { describe, expect, test } from 'vitest';
import { allowsChange, entityTag, isWeakened } from '../../src/events/entity-tag.ts';
import type { EventRecord } from '../../src/events/event.ts';
import { namedOnly } from '../../src/events/event-fields.ts';

const event: EventRecord = {
  ...namedOnly('Fair'),
  id: '3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11',
  companyId: 'acme',
  totalAttendees: 0,
  version: 1,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};
const tag = entityTag(event);

describe('an entity tag', () => {
  test('is strong and quoted', () => {
    expect(tag).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
  });

  test('is the same for what looks the same', () => {
    expect(entityTag({ ...event })).toBe(tag);
  });

  test.each([{ version: 2 }, { totalAttendees: 1 }, { id: '00000000-0000-4000-8000-000000000000' }])(
    'is another one with %j',
    (change) => {
      expect(entityTag({ ...event, ...change })).not.toBe(tag);
    },
  );
});

describe('an If-Match', () => {
  test.each([undefined, '*', ' * ', tag, `"other", ${tag}`, `"a,b" ,${tag},"c"`, `W/${tag}, ${tag}`])(
    'allows the change with %j',
    (header) => {
      expect(allowsChange(header, tag)).toBe(true);
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
    expect(allowsChange(header, tag)).toBe(false);
  });
});

describe('a tag in If-Match', () => {
  const core = tag.slice(1, -1);

  test.each([`W/${tag}`, `"${core}-gzip"`, `"${core};gzip"`, `"${core}:br"`, `"other", W/"x"`])(
    'was weakened in %j',
    (header) => {
      expect(isWeakened(header)).toBe(true);
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
    expect(isWeakened(header)).toBe(false);
  });
});
