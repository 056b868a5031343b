import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { MetricEntry } from '../../src/base/metrics.ts';
import { createOperationsApp } from '../../src/compose/operations.ts';
import { createParts } from '../../src/compose/parts.ts';
import { createMinter } from '../../src/compose/worker.ts';
import { loadConfig } from '../../src/config/config.ts';
import { test as base, perFile } from '../support/fixtures.ts';

const page = path.resolve('docs/operate/metrics.md');
const begin = '<!-- metrics: made by npm run test:processes -- test/service/metrics-table.test.ts -u -->';
const keys = `a:${Buffer.alloc(32, 1).toString('base64')}`;
const test = base.extend('parts', perFile, async ({ databaseUrl }, { onCleanup }) => {
  const config = loadConfig({ DATABASE_URL: databaseUrl, SECRET_KEYS: keys, CURSOR_KEYS: keys });
  const opened = new AsyncDisposableStack();
  onCleanup(() => opened.disposeAsync());
  const parts = await createParts(config, createLogger({ level: 'silent' }), opened);
  createOperationsApp(parts, { minter: createMinter(parts), isServing: () => true });
  return parts;
});

const rowOf = ({ name, type, labels, help }: MetricEntry) =>
  `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`;

test('docs/operate/metrics.md lists every metric of a process in all roles, and no other (-u writes it)', async ({
  parts,
}) => {
  const [before, , after] = (await readFile(page, 'utf8')).split(/<!-- \/?metrics.*-->/);
  const rows = [
    '| Metric | Type | Labels | Meaning |',
    '|---|---|---|---|',
    ...parts.metrics.list().map(rowOf),
  ];
  const current = `${before}${begin}\n${rows.join('\n')}\n<!-- /metrics -->${after}`;
  await expect(current).toMatchFileSnapshot(page);
});

test('a scrape has every metric of the table, and beside them only those of Node', async ({ parts }) => {
  const { text } = await parts.metrics.scrape();
  const names = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
  const ours = names.filter((name) => !/^(nodejs|process)_/.test(name));
  expect(ours.toSorted()).toEqual(parts.metrics.list().map(({ name }) => name));
  expect(names.length).toBeGreaterThan(ours.length);
});
