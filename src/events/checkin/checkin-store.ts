import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { type KeyEntry, keyEntrySql, keyEntryValues } from '../../db/records/audit-store.ts';

type EventKey = { readonly companyId: string; readonly eventId: string };

/** A registration at the door. */
export type Registration = {
  readonly attendeeId: string;
  readonly ticketId: string;
  readonly checkedInAt: Date | null;
  /** EIP-55. */
  readonly wallet: string | null;
  readonly label: string | null;
};

type Row = {
  attendee_id: string;
  seq: string;
  checked_in_at: Date | null;
  wallet: string | null;
  label: string | null;
};

// In one order, so that two scanners with the same attendees wait for each other and never both.
const lockSql = `SELECT attendee_id, seq, checked_in_at, wallet, label FROM attendees
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
    rows.map(({ attendee_id: attendeeId, seq: ticketId, checked_in_at: checkedInAt, ...rest }) => [
      attendeeId,
      { attendeeId, ticketId, checkedInAt, ...rest },
    ]),
  );
}

const toldSql = keyEntrySql({
  from: 5,
  companyId: 'made.company_id::text',
  subject: 'made.event_id::text',
  details: `jsonb_build_object('attendeeId', made.attendee_id)`,
});
const storeSql = `WITH made AS (
    UPDATE attendees SET checked_in_at = changed.checked_in_at
    FROM unnest($3::text[], $4::timestamptz[]) AS changed (attendee_id, checked_in_at)
    WHERE company_id = $1 AND event_id = $2 AND attendees.attendee_id = changed.attendee_id
    RETURNING company_id, event_id, attendees.attendee_id
  ) ${toldSql}`;

/** The time of the earliest valid entry of a user; null where there is none any more. */
export type AdmissionChange = { readonly attendeeId: string; readonly checkedInAt: Date | null };

/** Stores when users were admitted, whose registrations are locked, with the audit entries of an action. */
export async function storeAdmissions(
  tx: Tx,
  { companyId, eventId }: EventKey,
  changes: readonly AdmissionChange[],
  entry: KeyEntry,
): Promise<void> {
  if (changes.length === 0) return;
  const columns = [
    changes.map(({ attendeeId }) => attendeeId),
    // As text in UTC: the driver would write a Date in the zone of the process.
    changes.map(({ checkedInAt }) => checkedInAt?.toISOString() ?? null),
  ];
  const values = [companyId, eventId, ...columns, ...keyEntryValues(entry)];
  await prepared(tx, 'store_admissions', storeSql, values);
}

const findSql = `SELECT seq, created_at, label FROM attendees
  WHERE company_id = $1 AND event_id = $2 AND attendee_id = $3`;

type Ticketed = { readonly ticketId: string; readonly createdAt: Date; readonly label: string | null };

/** The registration of a user as a ticket shows it; undefined where there is none. */
export async function findTicketed(
  db: Database,
  { companyId, eventId }: EventKey,
  attendeeId: string,
): Promise<Ticketed | undefined> {
  const { rows } = await prepared<{ seq: string; created_at: Date; label: string | null }>(
    db,
    'find_ticketed',
    findSql,
    [...[companyId, eventId, attendeeId]],
  );
  const [row] = rows;
  return row && { ticketId: row.seq, createdAt: row.created_at, label: row.label };
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
