import { readFile, writeFile } from 'node:fs/promises';
import Table from 'cli-table3';
import type { Outcome } from './verdict.ts';

const heads = ['Fault', 'Served', 'Busy', '502, 503', 'Other', 'Longest', 'Recovery', 'Lost', 'Verdict'];

/** The outcomes as a table for a terminal. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const table = new Table({
    head: heads,
    style: { head: [], border: [] },
    wordWrap: true,
    colWidths: [...widths],
  });
  table.push(...outcomes.map((outcome) => cellsOf(outcome)));
  return table.toString();
}

const widths = [26, 8, 6, 10, 7, 10, 10, 6, 50];

function cellsOf({ name, answers, longestMs, recoveryMs, lost, note, violations }: Outcome): string[] {
  const { ok, busy, unavailable, wrong, cut, late } = answers;
  const verdict = violations.length === 0 ? 'held' : violations.join('; ');
  return [
    name,
    ...[ok, busy, unavailable, wrong + cut + late].map(String),
    seconds(longestMs),
    recoveryMs === undefined ? 'never' : seconds(recoveryMs),
    String(lost),
    note === '' ? verdict : `${verdict} (${note})`,
  ];
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

const begin = '<!-- faults: made by npm run faults -- service --readme -->';
const end = '<!-- /faults -->';

/** Puts the outcomes of a whole run into the README, in place of the last ones. @throws Error without the place */
export async function writeReadme(outcomes: readonly Outcome[], day: string): Promise<void> {
  const readme = await readFile('README.md', 'utf8');
  const [before, , after] = readme.split(new RegExp(`${begin}|${end}`));
  if (before === undefined || after === undefined) throw new Error(`README.md has no ${begin}`);
  const rows = outcomes.map((outcome) => {
    const [name = '', ...cells] = cellsOf(outcome);
    return `| ${[`${name}: ${outcome.about}`, ...cells].join(' | ')} |`;
  });
  const table = [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');
  await writeFile('README.md', `${before}${begin}\nRun on ${day}.\n\n${table}\n${end}${after}`);
}
