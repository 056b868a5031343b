import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { jobQueues } from '../../src/compose/job-queues.ts';
import { documentedOperations } from './documented.ts';

const section = readFileSync('SECURITY.md', 'utf8')
  .split(/^###? /m)
  .find((part) => part.startsWith('Budgets of a company'));
const tables = (section ?? '').split(/\n\n+/).filter((part) => part.startsWith('|'));
const rowsOf = (table = '') =>
  table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').slice(1, -1));
const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

const [budgets, uses] = tables.map(rowsOf);

/** Work that a process does for companies, as the code names it. */
const jobs = [
  ...[...jobQueues.keyed, ...jobQueues.scheduled],
  ...globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/startLeasedLoop\(\{[^}]*name: ['`]([\w ]+?)(?:['`]| \$)/g)].map(
      ([, name = '']) => name,
    ),
  ),
  // They keep their leases in tables of their own.
  ...['mint lanes', 'index'],
];

test('every operation and every job stands next to the budgets that it takes, once', () => {
  const found = (uses ?? []).flatMap(([, work]) => namesIn(work));
  const expected = [...documentedOperations.map(({ id }) => id), ...jobs];
  expect(jobs).toContain('news sender');
  expect(found.toSorted()).toEqual(expected.toSorted());
});

test('every budget that something takes has a bound, an owner and a test, which exist', () => {
  const rows = budgets ?? [];
  const known = rows.map(([name = '']) => name.trim());
  for (const [name, bound = '', owners, tests] of rows) {
    expect(bound.trim(), name).not.toBe('');
    expect(namesIn(owners).length, name).toBeGreaterThan(0);
    expect(namesIn(tests).length, name).toBeGreaterThan(0);
    for (const owner of namesIn(owners)) expect(existsSync(`src/${owner}`), owner).toBe(true);
    for (const file of namesIn(tests)) expect(existsSync(`${file}.test.ts`), file).toBe(true);
  }
  const taken = (uses ?? []).flatMap(([takes = '']) => takes.split(',').map((word) => word.trim()));
  const others =
    /^(these|as callers without a key|who share one place|none of a company: .*|or the blocks.*)$/;
  expect(taken.filter((name) => !known.includes(name) && !others.test(name))).toEqual([]);
});
