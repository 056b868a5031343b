import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { MetricEntry } from '../../src/base/metrics.ts';
import { createOperationsApp } from '../../src/compose/operations.ts';
import { createParts } from '../../src/compose/parts.ts';
import { createMinter } from '../../src/compose/worker.ts';
import { loadConfig } from '../../src/config/config.ts';
import { test as base, perFile } from '../support/fixtures.ts';

const keys = `a:${Buffer.alloc(32, 1).toString('base64')}`;
const test = base.extend('parts', perFile, async ({ databaseUrl }, { onCleanup }) => {
  const config = loadConfig({ DATABASE_URL: databaseUrl, SECRET_KEYS: keys, CURSOR_KEYS: keys });
  const opened = new AsyncDisposableStack();
  onCleanup(() => opened.disposeAsync());
  const parts = await createParts(config, createLogger({ level: 'silent' }), opened);
  createOperationsApp(parts, { minter: await createMinter(parts), isServing: () => true });
  return parts;
});

const rowOf = ({ name, type, labels, help }: MetricEntry) =>
  `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`;

test('the table in the README has every metric of a process in all roles, and none besides', async ({
  parts,
}) => {
  const [, table = ''] = (await readFile('README.md', 'utf8')).split(/<!-- \/?metrics -->/);
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows).toEqual(parts.metrics.list().map(rowOf));
});

test('a scrape has every metric of the table, and beside them only those of Node', async ({ parts }) => {
  const { text } = await parts.metrics.scrape();
  const names = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
  const ours = names.filter((name) => !/^(nodejs|process)_/.test(name));
  expect(ours.toSorted()).toEqual(parts.metrics.list().map(({ name }) => name));
  expect(names.length).toBeGreaterThan(ours.length);
});
