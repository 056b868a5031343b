import type { Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { type KeptScan, mostOfNobody, type ReadBook } from './scan-book.ts';

/* Table `checkin_scans`. The caller has locked the event, which belongs to the company, and the registrations. */
const table = 'checkin_scans';
const columns = 'scan_id, kind, at, gate, attendee_id, undoes, eligible';

const usersSql = `SELECT DISTINCT attendee_id FROM ${table}
  WHERE event_id = $1 AND scan_id = ANY ($2::uuid[]) AND kind <> 'undo'`;

/** Finds the users of scans. */
export async function findScannedUsers(
  tx: Tx,
  eventId: string,
  scanIds: readonly string[],
): Promise<string[]> {
  if (scanIds.length === 0) return [];
  const { rows } = await prepared<{ attendee_id: string }>(tx, 'find_scanned_users', usersSql, [
    ...[eventId, scanIds],
  ]);
  return rows.map(({ attendee_id }) => attendee_id);
}

// All at one time, after the locks.
const bookSql = `
  SELECT date_trunc('milliseconds', statement_timestamp()) AS now, s.*,
    (SELECT count(*) FROM (SELECT FROM ${table} WHERE event_id = $1 AND attendee_id IS NULL AND $4 LIMIT ${mostOfNobody}) few) AS of_nobody
  FROM (VALUES (1)) AS always LEFT JOIN (
    SELECT ${columns} FROM ${table} WHERE event_id = $1 AND attendee_id = ANY ($2::text[])
    UNION SELECT ${columns} FROM ${table} WHERE event_id = $1 AND scan_id = ANY ($3::uuid[])
    UNION SELECT ${columns} FROM ${table} WHERE event_id = $1 AND undoes = ANY ($3::uuid[])) s ON true`;

type BookRow = { now: Date; of_nobody: string } & (ScanRow | { scan_id: null });
type ScanRow = {
  scan_id: string;
  kind: KeptScan['kind'];
  at: Date;
  gate: string | null;
  attendee_id: string | null;
  undoes: string | null;
  eligible: boolean | null;
};

type Asked = {
  readonly attendeeIds: readonly string[];
  /** Of the scans of the request, and of the scans that its undos take back. */
  readonly scanIds: readonly string[];
  readonly hasUndos: boolean;
};

/** Reads all scans of registrations, and all scans with the ids of a request. */
export async function readBook(
  tx: Tx,
  eventId: string,
  { attendeeIds, scanIds, hasUndos }: Asked,
): Promise<ReadBook> {
  const { rows } = await prepared<BookRow>(tx, 'read_scan_book', bookSql, [
    ...[eventId, attendeeIds, scanIds, hasUndos],
  ]);
  const [first] = rows;
  if (first === undefined) throw new Error('the database has no time');
  const scans = rows.flatMap((row) => (row.scan_id === null ? [] : [toScan(row)]));
  return { now: first.now, scans, undosOfNobody: Number(first.of_nobody) };
}

const toScan = ({ scan_id, attendee_id, eligible, kind, at, gate, undoes }: ScanRow): KeptScan => ({
  scanId: scan_id,
  kind,
  at,
  gate,
  attendeeId: attendee_id,
  undoes,
  isEligible: eligible,
});

// In the order of their ids, so that two requests with the same ids wait for each other and never both.
const insertSql = `INSERT INTO ${table} (event_id, ${columns})
  SELECT $1::uuid, * FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::uuid[], $8::boolean[])
    AS s (${columns}) ORDER BY scan_id
  ON CONFLICT (event_id, scan_id) DO NOTHING`;

/**
 * Inserts scans.
 * @returns false when another request has meanwhile taken an id for another attendee
 */
export async function insertScans(tx: Tx, eventId: string, scans: readonly KeptScan[]): Promise<boolean> {
  if (scans.length === 0) return true;
  const { rowCount } = await prepared(tx, 'insert_scans', insertSql, [
    eventId,
    scans.map(({ scanId }) => scanId),
    scans.map(({ kind }) => kind),
    scans.map(({ at }) => at.toISOString()),
    scans.map(({ gate }) => gate),
    scans.map(({ attendeeId }) => attendeeId),
    scans.map(({ undoes }) => undoes),
    scans.map(({ isEligible }) => isEligible),
  ]);
  return rowCount === scans.length;
}

const attachSql = `UPDATE ${table} s SET attendee_id = found.attendee_id
  FROM unnest($2::uuid[], $3::text[]) AS found (scan_id, attendee_id)
  WHERE s.event_id = $1 AND s.scan_id = found.scan_id`;

/** Gives undos that came before their scan the attendee of the scan. */
export async function attachUndos(
  tx: Tx,
  eventId: string,
  undos: readonly { readonly scanId: string; readonly attendeeId: string }[],
): Promise<void> {
  if (undos.length === 0) return;
  const [ids, users] = [undos.map(({ scanId }) => scanId), undos.map(({ attendeeId }) => attendeeId)];
  await prepared(tx, 'attach_undos', attachSql, [eventId, ids, users]);
}
