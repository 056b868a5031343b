import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const clock =
  /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp)\s*\(\)|\bcurrent_timestamp\b/i;

/** Returns the text up to a word outside of all brackets, and its parts between commas there. */
function partsOf(text: string, end: RegExp): string[] {
  const parts = [''];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth < 0 || (depth === 0 && end.test(text.slice(at)))) break;
    if (depth === 0 && character === ',') parts.push('');
    else parts.push(`${parts.pop()}${character}`);
  }
  return parts;
}

const isMixed = (value: string): boolean =>
  /[a-z_]{2,}/i.test(
    value.replace(new RegExp(clock, 'gi'), '').replace(/'[^']*'|::\s*\w+|:\w+|\binterval\b/gi, ''),
  );

/**
 * Returns what a cluster of Citus refuses of a statement that changes a table of every node: a clock next to columns
 * or inside an expression, and a subscript of an array.
 */
function refusedIn(statement: string): string[] {
  const sets = [...statement.matchAll(/\bSET\b/g)].flatMap(({ index }) =>
    partsOf(statement.slice(index + 3), /^\b(FROM|WHERE|RETURNING)\b/),
  );
  const inCase = [...statement.matchAll(/\bCASE\b[\s\S]*?\bEND\b/g)].map(([text]) => text);
  return [
    ...sets.filter((part) => {
      const [name = '', ...value] = part.split('=');
      return (
        (clock.test(part) && isMixed(value.join('='))) || /\[/.test(name) || /\w\[\d/.test(value.join('='))
      );
    }),
    ...inCase.filter((text) => clock.test(text)),
  ];
}

const files = globSync('src/providers/indexer/store/**/*.ts');
const statementsOf = (source: string) => [...source.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text);

describe('a statement of the store', () => {
  test.each(files)('has nothing that a cluster refuses: %s', (file) => {
    expect(statementsOf(readFileSync(file, 'utf8')).flatMap(refusedIn)).toEqual([]);
  });

  test.each([
    "UPDATE t SET due = now() + interval '5 seconds' * power(6, least(t.tries, 5)) WHERE a = 1",
    'UPDATE t SET read_at = CASE WHEN r.answered THEN now() ELSE t.read_at END FROM r',
    'UPDATE t SET due = coalesce(t.due, now()) WHERE a = 1',
    'UPDATE t SET place[1] = 2 WHERE a = 1',
    'UPDATE t SET place = r.places[1] FROM r',
    'due = CASE WHEN a THEN now() END',
  ])('would be found: %s', (statement) => {
    expect(refusedIn(statement)).not.toEqual([]);
  });

  test.each([
    'UPDATE t SET updated_at = now(), name = r.name FROM r WHERE t.a = r.a',
    "UPDATE t SET due = now() + interval '10 minutes' WHERE a = 1",
    'UPDATE t SET tries = ?::int, due = now() + ?::interval WHERE a = ?',
    'UPDATE t SET due = CASE WHEN a THEN :at::timestamptz END WHERE b < now()',
  ])('may be: %s', (statement) => {
    expect(refusedIn(statement)).toEqual([]);
  });

  test('is in some files', () => {
    expect(files.length).toBeGreaterThan(15);
  });
});
