import { spawn } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { text } from 'node:stream/consumers';
import Table from 'cli-table3';
import { writeReadmePart } from '../readme-part.ts';
import { areHeld, below, boundOf, type Figures, type Limits, rounded, type Suite } from './suite.ts';

type Measured = { readonly name: string; readonly figures: Figures | undefined; readonly seconds: number };
type Row = readonly [
  suite: string,
  figure: string,
  value: string,
  bound: string,
  verdict: string,
  note: string,
];

const heads = ['Suite', 'Figure', 'Measured', 'Bound', 'Result', 'In addition'];

/** All together have to take less, once their data are made. */
const mostMinutes = 18;

/**
 * Suites one after the other, each in a process of its own, and one table of what they found.
 * @param isForReadme whether docs/performance.md gets the table
 */
export function allOf(suites: Readonly<Record<string, Suite>>, isForReadme: boolean): Suite {
  const names = Object.keys(suites);
  return {
    about: 'all of these in turn',
    async run({ isQuick, say }) {
      const found: Measured[] = [];
      for (const [index, name] of names.entries()) {
        say(`${name} (${index + 1} of ${names.length})`);
        const begun = performance.now();
        const figures = await measure(name, isQuick);
        const seconds = Math.round((performance.now() - begun) / 1_000);
        say(`  took ${seconds} s`);
        found.push({ name, figures, seconds });
      }
      const took = found.reduce((sum, { seconds }) => sum + seconds, 0);
      const limits: Limits = { minutes: below(rounded(took / 60), mostMinutes) };
      const rows = [...found.flatMap(rowsOf), ...rowsOfLimits('all', limits, {})];
      const table = new Table({ head: heads, style: { head: [], border: [] } });
      table.push(...rows.map((row) => [...row]));
      say(table.toString());
      const remarks = found.flatMap(({ name, figures }) =>
        (figures?.remarks ?? []).map((remark) => `${name}: ${remark}`),
      );
      for (const remark of remarks) say(remark);
      if (isForReadme) await writeReadmePart('figures', partOf(rows, remarks, isQuick, took));
      const measured = Object.fromEntries(
        found.map(({ name, figures, seconds }) => [name, { ...figures, seconds }]),
      );
      return {
        ok: found.every(({ figures }) => figures?.ok === true) && areHeld(limits),
        limits,
        seconds: took,
        remarks,
        suites: measured,
      };
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

function rowsOf({ name, figures, seconds }: Measured): Row[] {
  if (figures === undefined) return [[name, '-', '-', '-', 'gave no figures', '']];
  const { limits, notes = {} } = figures;
  const told = Object.entries({ ...figures.ratios, ...figures.beside, seconds });
  const others = told.filter(([figure]) => limits[figure] === undefined);
  return [
    ...rowsOfLimits(name, limits, notes),
    ...others.map(([figure, value]): Row => [name, figure, String(value), '', '', notes[figure] ?? '']),
  ];
}

const rowsOfLimits = (name: string, limits: Limits, notes: Readonly<Record<string, string>>): Row[] =>
  Object.entries(limits).map(([figure, limit]): Row => {
    const verdict = limit.ok ? 'met' : 'NOT met';
    return [name, figure, String(limit.value), boundOf(limit), verdict, notes[figure] ?? ''];
  });

function partOf(rows: readonly Row[], remarks: readonly string[], isQuick: boolean, seconds: number): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory} GB, Node ${process.version}`;
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const how = `${isQuick ? ', in the quick form,' : ''} in ${Math.round(seconds / 60)} minutes on ${machine}`;
  const said = remarks.map((remark) => `\n\n${remark}.`).join('');
  return `Run on ${day}${how}.\n\n${lines.join('\n')}${said}`;
}
