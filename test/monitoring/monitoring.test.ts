import { readFile } from 'node:fs/promises';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createLogger } from '../../src/base/log.ts';
import { createOperationsApp } from '../../src/compose/operations.ts';
import { createParts } from '../../src/compose/parts.ts';
import { createMinter } from '../../src/compose/worker.ts';
import { loadConfig } from '../../src/config/config.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { alertCauses } from './alert-causes.ts';

const keys = `a:${Buffer.alloc(32, 1).toString('base64')}`;
/** Labels of every metric that a process in all roles exposes, by the names of its series. */
const test = base.extend('series', perFile, async ({ databaseUrl }, { onCleanup }) => {
  const config = loadConfig({ DATABASE_URL: databaseUrl, SECRET_KEYS: keys, CURSOR_KEYS: keys });
  const opened = new AsyncDisposableStack();
  onCleanup(() => opened.disposeAsync());
  const parts = await createParts(config, createLogger({ level: 'silent' }), opened);
  createOperationsApp(parts, { minter: createMinter(parts), isServing: () => true });
  const labels = new Map(parts.metrics.list().map((entry) => [entry.name, entry.labels]));
  const { text } = await parts.metrics.scrape();
  const found = new Map<string, readonly string[]>([['up', []]]);
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)/gm)) {
    const own = labels.get(name) ?? [];
    if (type !== 'histogram') found.set(name, own);
    else for (const end of ['bucket', 'sum', 'count']) found.set(`${name}_${end}`, [...own, 'le']);
  }
  return found;
});

// Of Prometheus, which it gives every series.
const scraped = ['job', 'instance'];
// What Grafana fills in.
const filled = (expression: string) => expression.replaceAll('$__rate_interval', '5m');

/** What is wrong with an expression: its grammar, or names and labels that the service does not expose. */
function faultsOf(expression: string, series: ReadonlyMap<string, readonly string[]>): string[] {
  const faults: string[] = [];
  const text = filled(expression);
  const used: string[] = [];
  parser.parse(text).iterate({
    enter: (node) => {
      const word = text.slice(node.from, node.to);
      if (node.type.isError) faults.push(`${text}: not understood at ${node.from}`);
      if (node.name === 'VectorSelector') {
        const name = /^\w+/.exec(word)?.[0] ?? '';
        const labels = series.get(name);
        if (labels === undefined) faults.push(`${name} is no metric`);
        used.push(...(labels ?? []));
        for (const [, label = ''] of word.matchAll(/[{,]\s*(\w+)\s*[=!]/g)) {
          if (![...(labels ?? []), ...scraped].includes(label)) faults.push(`${name} has no label ${label}`);
        }
      }
    },
  });
  if (used.length === 0 && faults.length === 0 && !/^\(*\w/.test(text)) faults.push(`${text}: no metric`);
  const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
  return [
    ...faults,
    ...grouped
      .filter((label) => ![...used, ...scraped].includes(label))
      .map((label) => `by ${label}: no label`),
  ];
}

const read = (file: string) => readFile(`deploy/monitoring/${file}`, 'utf8');
const runbooks = 'docs/operate/runbooks.md';
const alert = z.strictObject({
  alert: z.string().regex(/^Tallystick[A-Z]\w+$/),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({ summary: z.string() }),
});
const rules = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(alert).min(1) })),
});
const alerts = async () =>
  rules.parse(parse(await read('rules.yaml'))).groups.flatMap((group) => group.rules);

describe('the alerts', () => {
  test('ask for what the service exposes', async ({ series }) => {
    expect((await alerts()).flatMap(({ expr }) => faultsOf(expr, series))).toEqual([]);
  });

  test('have a runbook and two tests each, and nothing else has', async () => {
    const names = (await alerts()).map((each) => each.alert).toSorted();
    expect(new Set(names).size).toBe(names.length);
    const sections = [...(await readFile(runbooks, 'utf8')).matchAll(/^## (Tallystick\w+)$/gm)];
    expect(sections.map(([, name]) => name).toSorted()).toEqual(names);
    const { tests }: { tests: { name: string }[] } = parse(await read('rules.test.yaml'));
    const tried = tests.map(({ name }) => name).toSorted();
    expect(tried).toEqual(names.flatMap((name) => [name, `${name} while all is well`]).toSorted());
  });

  test('have a cause each that lets them fire over live processes, and nothing else has', async () => {
    expect(Object.keys(alertCauses).toSorted()).toEqual(
      (await alerts()).map((each) => each.alert).toSorted(),
    );
  });
});

describe('the dashboard', () => {
  const panel = z.object({
    id: z.number(),
    type: z.enum(['row', 'timeseries']),
    title: z.string().min(1),
    gridPos: z.object({ h: z.number(), w: z.number(), x: z.number(), y: z.number() }),
    targets: z.array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).default([]),
  });
  const dashboard = async () =>
    z.object({ panels: z.array(panel) }).parse(JSON.parse(await read('dashboard.json'))).panels;

  test('asks for what the service exposes, and names its series by labels that they have', async ({
    series,
  }) => {
    const targets = (await dashboard()).flatMap((each) => each.targets);
    expect(targets.length).toBeGreaterThan(20);
    expect(targets.flatMap(({ expr }) => faultsOf(expr, series))).toEqual([]);
    for (const { expr, legendFormat } of targets) {
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        expect([expr, `${expr} instance`.includes(label)]).toEqual([expr, true]);
    }
  });

  test('has its panels side by side and not one over another', async () => {
    const panels = await dashboard();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});
