import Table from 'cli-table3';
import type { CaseResult } from './run-cases.ts';

const words = { passed: 'ok', failed: 'FAILED', unprovoked: 'not provoked' };

/** A row for each operation and status. */
export function toTable(results: readonly CaseResult[]): string {
  const table = new Table({
    head: ['Operation', 'Status', 'Result', 'Cases'],
    style: { head: [], border: [] },
    // Lines between the rows would double the length.
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const row of Object.values(Object.groupBy(results, pairOf))) {
    const [first] = row ?? [];
    if (row === undefined || first === undefined) continue;
    const tried = row.filter(({ outcome }) => outcome !== 'unprovoked').length;
    const cases = tried === row.length ? String(tried) : `${tried} of ${row.length}`;
    table.push([first.tried.operation, first.tried.status, words[outcomeOf(row)], cases]);
  }
  return table.toString();
}

/** What failed, with the reason. */
export function toFailures(results: readonly CaseResult[]): string {
  return results
    .filter(({ outcome }) => outcome === 'failed')
    .map((result) => `  ${titleOf(result)}\n${(result.reason ?? '').replaceAll(/^/gm, '    ')}`)
    .join('\n');
}

/** What was not provoked, by its reason. */
export function toGaps(results: readonly CaseResult[]): string {
  const gaps = results.filter(({ outcome }) => outcome === 'unprovoked');
  return Object.entries(Object.groupBy(gaps, ({ reason = '' }) => reason))
    .map(([reason, own = []]) => {
      const examples = [...new Set(own.map(({ tried }) => tried.example))].join(', ');
      return `  ${String(own.length).padStart(3)}  ${reason}: ${examples}`;
    })
    .join('\n');
}

/** How many of each, in a sentence. */
export function toSummary(results: readonly CaseResult[]): string {
  const count = (wanted: CaseResult['outcome']) => results.filter(({ outcome }) => outcome === wanted).length;
  return `${results.length} cases: ${count('passed')} passed, ${count('failed')} failed, ${count('unprovoked')} not provoked`;
}

/** The form that CI servers read: a suite for each area, a test for each case. */
export function toJUnit(results: readonly CaseResult[]): string {
  const areas = Object.entries(Object.groupBy(results, ({ tried }) => tried.area));
  const suites = areas.map(([area, own = []]) => {
    const cases = own.map(
      (result) =>
        `    <testcase classname="${area}.${result.tried.operation}" name="${escapeXml(titleOf(result))}" time="${result.seconds.toFixed(3)}">${detailOf(result)}</testcase>`,
    );
    return `  <testsuite name="${area}" ${countsOf(own)}>\n${cases.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="contract" ${countsOf(results)}>\n${suites.join('\n')}\n</testsuites>\n`;
}

function outcomeOf(row: readonly CaseResult[]): CaseResult['outcome'] {
  if (row.some(({ outcome }) => outcome === 'failed')) return 'failed';
  return row.some(({ outcome }) => outcome === 'passed') ? 'passed' : 'unprovoked';
}

function pairOf({ tried }: CaseResult): string {
  return `${tried.operation} ${tried.status}`;
}

function titleOf({ tried }: CaseResult): string {
  return `${tried.operation} ${tried.status} ${tried.example}`;
}

function detailOf({ outcome, reason = '' }: CaseResult): string {
  if (outcome === 'passed') return '';
  return outcome === 'failed'
    ? `<failure message="${escapeXml(reason.split('\n')[0] ?? '')}">${escapeXml(reason)}</failure>`
    : `<skipped message="${escapeXml(reason)}"/>`;
}

function countsOf(results: readonly CaseResult[]): string {
  const count = (wanted: CaseResult['outcome']) => results.filter(({ outcome }) => outcome === wanted).length;
  const seconds = results.reduce((sum, each) => sum + each.seconds, 0).toFixed(3);
  return `tests="${results.length}" failures="${count('failed')}" skipped="${count('unprovoked')}" time="${seconds}"`;
}

function escapeXml(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      // What XML cannot hold at all.
      .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/g, '?')
  );
}
