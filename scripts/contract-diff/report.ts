import Table from 'cli-table3';
import type { Change, Severity } from './change.ts';

/** A change with the document that it is in and whether the changelog announces it. */
export type Finding = Change & { readonly area: string; readonly announced: boolean };

const order: readonly Severity[] = ['breaking', 'risky', 'safe'];

/** What the JSON form contains: how many of each severity, and every finding. */
export function toJson(base: string, findings: readonly Finding[]): string {
  const counts = Object.fromEntries(order.map((one) => [one, of(findings, one).length]));
  const unannounced = of(findings, 'breaking').filter(({ announced }) => !announced).length;
  return `${JSON.stringify({ base, ...counts, unannounced, changes: findings }, null, 2)}\n`;
}

/** A table of each severity that has findings; safe ones are counted by class unless all are wanted. */
export function toText(base: string, findings: readonly Finding[], all: boolean): string {
  if (findings.length === 0) return `No difference from ${base}.\n`;
  const tables = order.flatMap((severity) => {
    const found = of(findings, severity);
    if (found.length === 0) return [];
    const title = `${found.length} ${severity}`;
    return [`${title}\n${severity === 'safe' && !all ? countTable(found) : listTable(found)}`];
  });
  return `Differences from ${base}\n\n${tables.join('\n\n')}\n`;
}

function of(findings: readonly Finding[], severity: Severity): readonly Finding[] {
  return findings.filter((finding) => finding.severity === severity);
}

function listTable(findings: readonly Finding[]): string {
  const table = new Table({ head: ['Class', 'Area', 'Subject', 'Where', 'Change'], style: plain });
  for (const finding of findings) {
    const { area, subject, at, message, announced } = finding;
    table.push([finding.class, area, subject, at, announced ? `${message} (announced)` : message]);
  }
  return table.toString();
}

function countTable(findings: readonly Finding[]): string {
  const counts = new Map<string, number>();
  for (const finding of findings) counts.set(finding.class, (counts.get(finding.class) ?? 0) + 1);
  const table = new Table({ head: ['Class', 'Times'], style: plain });
  for (const [name, times] of counts) table.push([name, times]);
  return table.toString();
}

const plain = { head: [], border: [] };
