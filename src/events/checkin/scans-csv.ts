import { csvLine } from '../../base/csv.ts';
import type { Batches } from '../../contract/batches.ts';
import { sizeInMemory } from '../../contract/size-in-memory.ts';
import { TextStream } from '../../contract/text-stream.ts';
import type { ListedScan } from './scan-list-store.ts';

const names = [
  ...['scan_id', 'kind', 'at', 'gate', 'attendee_id', 'ticket_id', 'undoes', 'status', 'received_at'],
];

/** The scans of an event as CSV. */
export function scansCsv({ first, rest }: Batches<ListedScan>): TextStream {
  const stream = new TextStream('text/csv; charset=utf-8', pieces(), sizeInMemory(first));
  return stream;

  async function* pieces(): AsyncGenerator<string> {
    yield csvLine(names);
    yield linesOf(first);
    for await (const batch of rest ?? []) {
      stream.heldBytes = sizeInMemory(batch);
      yield linesOf(batch);
    }
  }
}

const linesOf = (scans: readonly ListedScan[]) =>
  scans
    .map(({ scanId, kind, at, gate, attendeeId, ticketId, undoes, status, receivedAt }) =>
      csvLine([
        ...[scanId, kind, at.toISOString(), gate ?? '', attendeeId ?? '', ticketId ?? '', undoes ?? ''],
        ...[status, receivedAt.toISOString()],
      ]),
    )
    .join('');
