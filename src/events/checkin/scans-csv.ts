import type { Batches } from '../../contract/batches.ts';
import { batchesCsv } from '../../contract/batches-csv.ts';
import type { TextStream } from '../../contract/text-stream.ts';
import type { ListedScan } from './scan-list-store.ts';

const names = [
  ...['scan_id', 'kind', 'at', 'gate', 'attendee_id', 'ticket_id', 'undoes', 'status', 'received_at'],
];

/** The scans of an event as CSV. */
export const scansCsv = (scans: Batches<ListedScan>): TextStream =>
  batchesCsv(names, scans, ({ scanId, kind, at, gate, attendeeId, ticketId, undoes, status, receivedAt }) => [
    ...[scanId, kind, at.toISOString(), gate ?? '', attendeeId ?? '', ticketId ?? '', undoes ?? ''],
    ...[status, receivedAt.toISOString()],
  ]);
