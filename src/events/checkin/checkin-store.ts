import type { Origin } from '../../contract/operation.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { keyEntrySql, keyEntryValues } from '../../db/records/audit-store.ts';

type EventKey = { readonly companyId: string; readonly eventId: string };

/** A registration at the door. */
export type Registration = {
  readonly attendeeId: string;
  readonly ticketId: string;
  readonly checkedInAt: Date | null;
  /** EIP-55. */
  readonly wallet: string | null;
};

type Row = { attendee_id: string; seq: string; checked_in_at: Date | null; wallet: string | null };

// In one order, so that two scanners with the same attendees wait for each other and never both.
const lockSql = `SELECT attendee_id, seq, checked_in_at, wallet FROM attendees
  WHERE company_id = $1 AND event_id = $2 AND attendee_id = ANY ($3::text[])
  ORDER BY attendee_id FOR NO KEY UPDATE`;

/** Locks the registrations of users until the end of the transaction, and returns them by user. */
export async function lockRegistrations(
  tx: Tx,
  { companyId, eventId }: EventKey,
  attendeeIds: readonly string[],
): Promise<Map<string, Registration>> {
  const { rows } = await prepared<Row>(tx, 'lock_attendees', lockSql, [companyId, eventId, attendeeIds]);
  return new Map(
    rows.map(({ attendee_id: attendeeId, seq: ticketId, checked_in_at: checkedInAt, wallet }) => [
      attendeeId,
      { attendeeId, ticketId, checkedInAt, wallet },
    ]),
  );
}

const admittedSql = keyEntrySql({
  from: 4,
  companyId: 'made.company_id::text',
  subject: 'made.event_id::text',
  details: `jsonb_build_object('attendeeId', made.attendee_id)`,
});
// All at one time, after the locks.
const admitSql = `WITH made AS (
    UPDATE attendees SET checked_in_at = statement_timestamp()
    WHERE company_id = $1 AND event_id = $2 AND attendee_id = ANY ($3::text[])
    RETURNING company_id, event_id, attendee_id, checked_in_at
  ), told AS (${admittedSql}) SELECT attendee_id, checked_in_at FROM made`;

/** Admits users whose registrations are locked, and returns when each was admitted. */
export async function admit(
  tx: Tx,
  { companyId, eventId }: EventKey,
  attendeeIds: readonly string[],
  origin: Origin,
): Promise<Map<string, Date>> {
  if (attendeeIds.length === 0) return new Map();
  const { rows } = await prepared<{ attendee_id: string; checked_in_at: Date }>(
    tx,
    'admit_attendees',
    admitSql,
    [...[companyId, eventId, attendeeIds], ...keyEntryValues({ action: 'attendee.checkin', origin })],
  );
  return new Map(rows.map((row) => [row.attendee_id, row.checked_in_at]));
}

const findSql = `SELECT seq, created_at FROM attendees
  WHERE company_id = $1 AND event_id = $2 AND attendee_id = $3`;

/** The registration of a user as a ticket shows it; undefined where there is none. */
export async function findTicketed(
  db: Database,
  { companyId, eventId }: EventKey,
  attendeeId: string,
): Promise<{ readonly ticketId: string; readonly createdAt: Date } | undefined> {
  const { rows } = await prepared<{ seq: string; created_at: Date }>(db, 'find_ticketed', findSql, [
    ...[companyId, eventId, attendeeId],
  ]);
  return rows[0] && { ticketId: rows[0].seq, createdAt: rows[0].created_at };
}

/** A ticket of an attendee who was removed. */
export type RevokedTicket = {
  readonly ticketId: string;
  readonly attendeeId: string;
  readonly revokedAt: Date;
  /** Its place in the list, which grows with the order of removal. */
  readonly place: string;
};

type RevokedRow = { ticket_id: string; attendee_id: string; revoked_at: Date; seq: string };

const revokedSql = `SELECT r.ticket_id, r.attendee_id, r.revoked_at, r.seq
  FROM events e JOIN revoked_tickets r ON r.event_id = e.id
  WHERE e.company_id = $1 AND e.id = $2 AND r.seq > $3 ORDER BY r.seq LIMIT $4`;

/** Revoked tickets of an event after a place, first revoked first. */
export async function listRevoked(
  db: Database,
  { companyId, eventId }: EventKey,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<RevokedTicket[]> {
  const { rows } = await prepared<RevokedRow>(db, 'list_revoked', revokedSql, [
    ...[companyId, eventId, after ?? '0', limit],
  ]);
  return rows.map((row) => ({
    ticketId: row.ticket_id,
    attendeeId: row.attendee_id,
    revokedAt: row.revoked_at,
    place: row.seq,
  }));
}
