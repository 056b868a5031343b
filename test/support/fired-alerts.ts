import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';

const rulesFile = path.resolve('deploy/monitoring/rules.yaml');
/** Longer than any rule waits. */
const minutes = 40;

/** What a process showed at two moments; of one that was gone, nothing. */
export type Scraped = { readonly before: string; readonly after: string | undefined };

/**
 * The alerts that fire when what a process showed goes on for some time: levels stay as they were last, and counters grow each
 * minute by what they grew between both moments. Prometheus' own `promtool` evaluates the rules.
 */
export async function firedAlerts({ before, after }: Scraped): Promise<string[]> {
  const rules = await readFile(rulesFile, 'utf8');
  const counters = new Set(
    [...before.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name = '']) => name),
  );
  const first = seriesOf(before);
  const series = [...seriesOf(after ?? '')].flatMap(([id, value]) => {
    const name = /^\w+/.exec(id)?.[0] ?? '';
    if (!rules.includes(name) || !Number.isFinite(value)) return [];
    const grows = counters.has(name) || counters.has(name.replace(/_(?:bucket|sum|count)$/, ''));
    const growth = grows ? value - (first.get(id) ?? 0) : 0;
    return [{ series: withInstance(id), values: `${value}+${growth}x${minutes}` }];
  });
  const up = { series: withInstance('up'), values: `${after === undefined ? 0 : 1}x${minutes}` };
  const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-alerts-'));
  const file = path.join(folder, 'live.test.yaml');
  const question = {
    expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${minutes}m`,
    exp_samples: [],
  };
  const live = { interval: '1m', input_series: [up, ...series], promql_expr_test: [question] };
  await writeFile(file, stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests: [live] }));
  try {
    // None is expected, so that it tells of all that there are.
    const { stdout, stderr } = await promisify(execFile)('promtool', ['test', 'rules', file]).catch(
      (error: { stdout?: string; stderr?: string }) => ({ stdout: '', stderr: '', ...error }),
    );
    const told = stdout + stderr;
    if (!/SUCCESS/.test(told) && !/got:/.test(told)) throw new Error(told);
    const [, got = ''] = told.split(/\bgot:/);
    return [...new Set([...got.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name))].toSorted();
  } finally {
    await rm(folder, { recursive: true });
  }
}

function seriesOf(text: string): Map<string, number> {
  const lines = [...text.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm)];
  return new Map(lines.map(([, id = '', value]) => [id, Number(value)]));
}

const withInstance = (id: string) => {
  const own = 'job="tallystick",instance="a:9464"';
  return id.endsWith('}') ? `${id.slice(0, -1)},${own}}` : `${id}{${own}}`;
};
