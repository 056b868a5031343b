import Table from 'cli-table3';
import type { Comparison, Measured } from './rounds.ts';

const head = [
  'Request',
  'Asked',
  'Of',
  'A second',
  'Spread',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'Max ms',
  'CPU µs',
];

/** @param unpinned why server and load had no core each */
export function tableOf(found: readonly Comparison[], unpinned: string | undefined): string {
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { name, ratio, service, peer, paced } of found) {
    table.push(
      [`${name} ${ratio}`, 'at once', 'service', ...cellsOf(service)],
      ['', '', 'peer', ...cellsOf(peer)],
      ['', 'at half the rate', 'service', ...cellsOf(paced.service)],
      ['', '', 'peer', ...cellsOf(paced.peer)],
    );
  }
  table.push([{ colSpan: head.length, content: unpinned ?? 'Server and load had a core each.' }]);
  return table.toString();
}

// Of one round there is no spread.
const cellsOf = ({ perSecond, spread, p50Ms, p95Ms, p99Ms, maxMs, cpuUs }: Measured) => [
  ...[perSecond, spread === 1 ? '' : spread, p50Ms, p95Ms, p99Ms ?? 'too few', maxMs, cpuUs],
];

/** What stands beside each ratio, of the service and of the peer. */
export const notesOf = (found: readonly Comparison[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    found.map(({ name, service, peer, paced }) => [
      name,
      [
        `${service.perSecond} to ${peer.perSecond} a second`,
        `CPU ${service.cpuUs} to ${peer.cpuUs} µs`,
        `p99 ${p99Of(service)} to ${p99Of(peer)} ms, at half the rate ${p99Of(paced.service)} to ${p99Of(paced.peer)}`,
        `spread ${service.spread} to ${peer.spread}`,
      ].join('; '),
    ]),
  );

const p99Of = ({ p99Ms }: Measured) => p99Ms ?? '-';
