import Table from 'cli-table3';
import { writeReadmePart } from '../../readme-part.ts';
import type { Outcome } from './verdict.ts';

const heads = [
  ...[
    'Fault',
    'Served',
    'Busy',
    '502, 503',
    'Other',
    'Longest',
    'Recovery',
    'Mint',
    'Index',
    'Memory',
    'Lost',
  ],
  'Verdict',
];

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

const widths = [26, 8, 6, 10, 7, 10, 10, 8, 8, 9, 6, 44];

function cellsOf(outcome: Outcome): string[] {
  const { name, answers, longestMs, recoveryMs, background, peak, lost, note, violations } = outcome;
  const { ok, busy, unavailable, wrong, cut, late } = answers;
  const verdict = violations.length === 0 ? 'held' : violations.join('; ');
  return [
    name,
    ...[ok, busy, unavailable, wrong + cut + late].map(String),
    seconds(longestMs),
    ...[recoveryMs, background.mintMs, background.indexMs].map(orNever),
    `${peak.memoryMb} MB`,
    String(lost),
    note === '' ? verdict : `${verdict} (${note.replaceAll(/\s+/g, ' ').trim()})`,
  ];
}

const orNever = (ms: number | undefined) => (ms === undefined ? 'never' : seconds(ms));
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/**
 * Puts the outcomes of a whole run into docs/faults.md, in place of the last ones.
 * @param leftOut the faults that could not be caused, with why
 * @throws Error without the place
 */
export async function writeReadme(
  outcomes: readonly Outcome[],
  leftOut: readonly string[],
  day: string,
): Promise<void> {
  const rows = outcomes.map((outcome) => {
    const [name = '', ...cells] = cellsOf(outcome);
    return `| ${[`${name}: ${outcome.about}`, ...cells].join(' | ')} |`;
  });
  const table = [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');
  const missing = leftOut.length === 0 ? '' : ` Left out: ${leftOut.join(', ')}.`;
  await writeReadmePart('faults', `Run on ${day}.${missing}\n\n${table}`);
}
