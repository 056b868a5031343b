import type { Batches } from '../../contract/batches.ts';
import type { Database } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import type { MayLag } from '../../db/replica/replica-reads.ts';
import { batchSize, readWhileThere } from '../read-while-there.ts';
import type { PassageStatus } from './fold.ts';
import type { KeptScan } from './scan-book.ts';
import { statusSql } from './scan-sql.ts';

type EventKey = { readonly companyId: string; readonly eventId: string };

export type ListedScan = Omit<KeptScan, 'isEligible'> & {
  readonly ticketId: string | null;
  readonly status: PassageStatus | 'undo_of_undo';
  readonly receivedAt: Date;
  /** Its place in the list, which grows with the order of arrival. */
  readonly seq: string;
};

type Row = ListedScan | { readonly scanId: null };

// Of a plain outer join the server would sort all scans that come after, for each page.
const listSql = `
  SELECT s.seq, s.scan_id AS "scanId", s.kind, s.at, s.gate, s.attendee_id AS "attendeeId", a.seq AS "ticketId",
    s.undoes, s.received_at AS "receivedAt", ${statusSql('s')} AS status
  FROM events e LEFT JOIN LATERAL (
    SELECT * FROM checkin_scans WHERE event_id = e.id AND seq > $3 ORDER BY seq LIMIT $4) s ON true
  LEFT JOIN attendees a ON a.event_id = s.event_id AND a.attendee_id = s.attendee_id
  WHERE e.company_id = $1 AND e.id = $2
  ORDER BY s.seq`;

/** Lists scans of an event after a place, first arrived first; undefined when the company has no such event. */
export async function listScans(
  db: Database,
  { companyId, eventId }: EventKey,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<ListedScan[] | undefined> {
  const { rows } = await prepared<Row>(db, 'list_scans', listSql, [companyId, eventId, after ?? '0', limit]);
  // An event without further scans has one empty row.
  return rows.length === 0 ? undefined : rows.filter((row): row is ListedScan => row.scanId !== null);
}

/** All scans of an event after a place; undefined when the company has no such event. */
export async function readAllScans(
  mayLag: MayLag,
  key: EventKey,
  after: string | undefined,
): Promise<Batches<ListedScan> | undefined> {
  return readWhileThere((last) =>
    mayLag((db) => listScans(db, key, { after: last ?? after, limit: batchSize })),
  );
}
