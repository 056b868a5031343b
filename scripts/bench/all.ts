import { spawn } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { text } from 'node:stream/consumers';
import Table from 'cli-table3';
import { writeReadmePart } from '../readme-part.ts';
import { boundOf, type Limits } from './limits.ts';
import type { Figures, Suite } from './suite.ts';

type Measured = { readonly name: string; readonly figures: Figures | undefined };
type Row = readonly [suite: string, figure: string, value: string, bound: string, verdict: string];

const heads = ['Suite', 'Figure', 'Measured', 'Bound', ''];

/** All suites one after the other, each in a process of its own, and one table of what they found. */
export function allOf(suites: Readonly<Record<string, Suite>>, writesReadme: boolean): Suite {
  const names = Object.keys(suites);
  return {
    about: 'All of them in turn, and one table; --readme puts it into README.md',
    async run({ isQuick, say }) {
      const found: Measured[] = [];
      for (const [index, name] of names.entries()) {
        say(`${name} (${index + 1} of ${names.length})`);
        const lack = await suites[name]?.prepare?.(say);
        if (lack !== undefined) {
          say(`  left out: ${lack}`);
          continue;
        }
        found.push({ name, figures: await measure(name, isQuick) });
      }
      const rows = found.flatMap(rowsOf);
      const table = new Table({ head: heads, style: { head: [], border: [] } });
      table.push(...rows.map((row) => [...row]));
      say(table.toString());
      if (writesReadme) await writeReadmePart('figures', partOf(rows, isQuick));
      const measured = Object.fromEntries(found.map(({ name, figures }) => [name, figures ?? null]));
      return { ok: found.every(({ figures }) => figures?.ok === true), limits: {}, suites: measured };
    },
  };
}

/** @returns undefined when the suite ended without figures */
async function measure(name: string, isQuick: boolean): Promise<Figures | undefined> {
  const words = [...process.execArgv, 'scripts/bench.ts', name, ...(isQuick ? ['--quick'] : [])];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const last = (await text(child.stdout)).trim().split('\n').at(-1) ?? '';
  return last.startsWith('{') ? (JSON.parse(last) as Figures) : undefined; // as a suite prints it
}

function rowsOf({ name, figures }: Measured): Row[] {
  if (figures === undefined) return [[name, '-', '-', '-', 'gave no figures']];
  const limits: Limits = figures.limits;
  const others = Object.entries(figures.ratios ?? {}).filter(([figure]) => limits[figure] === undefined);
  return [
    ...Object.entries(limits).map(([figure, limit]): Row => {
      return [name, figure, String(limit.value), boundOf(limit), limit.ok ? 'held' : 'NOT held'];
    }),
    ...others.map(([figure, value]): Row => [name, figure, String(value), '', '']),
  ];
}

function partOf(rows: readonly Row[], isQuick: boolean): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory} GB, Node ${process.version}`;
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `Run on ${day}${isQuick ? ', in the quick form,' : ''} on ${machine}.\n\n${lines.join('\n')}`;
}
