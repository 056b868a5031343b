import Table from 'cli-table3';
import { writeReadmePart } from '../../readme-part.ts';
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
    note === '' ? verdict : `${verdict} (${note.replaceAll(/\s+/g, ' ').trim()})`,
  ];
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** Puts the outcomes of a whole run into the README, in place of the last ones. @throws Error without the place */
export async function writeReadme(outcomes: readonly Outcome[], day: string): Promise<void> {
  const rows = outcomes.map((outcome) => {
    const [name = '', ...cells] = cellsOf(outcome);
    return `| ${[`${name}: ${outcome.about}`, ...cells].join(' | ')} |`;
  });
  const table = [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');
  await writeReadmePart('faults', `Run on ${day}.\n\n${table}`);
}
