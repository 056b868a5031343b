import type { Database, Tx } from '../contract/transaction.ts';
import type { Attendee } from './event.ts';

// Writers hold the lock of the event's row, so the column `seq` is the order of registration.
const table = 'attendees';

type Row = { event_id: string; attendee_id: string; created_at: Date };

function fromRow(row: Row): Attendee {
  return { attendeeId: row.attendee_id, eventId: row.event_id, createdAt: row.created_at };
}

function keyOf(companyId: string, eventId: string, attendeeId: string) {
  return { company_id: companyId, event_id: eventId, attendee_id: attendeeId };
}

/**
 * The attendees of an event in order of registration. One statement reads event and attendees, so the list is
 * consistent.
 * @returns undefined when the company has no such event
 */
export async function listAttendees(
  db: Database,
  companyId: string,
  eventId: string,
): Promise<Attendee[] | undefined> {
  const rows: (Row | { attendee_id: null })[] = await db('events as e')
    .leftJoin(`${table} as a`, { 'a.company_id': 'e.company_id', 'a.event_id': 'e.id' })
    .where({ 'e.company_id': companyId, 'e.id': eventId })
    .orderBy('a.seq')
    .select('a.event_id', 'a.attendee_id', 'a.created_at');
  if (rows.length === 0) return undefined;
  return rows.flatMap((row) => (row.attendee_id === null ? [] : [fromRow(row)]));
}

/** Whether the user is registered for the event. */
export async function hasAttendee(
  db: Database,
  companyId: string,
  eventId: string,
  attendeeId: string,
): Promise<boolean> {
  const row: Row | undefined = await db(table)
    .where(keyOf(companyId, eventId, attendeeId))
    .first('event_id');
  return row !== undefined;
}

/**
 * Registers a user for a locked event.
 * @returns undefined when the user is registered already
 */
export async function insertAttendee(
  tx: Tx,
  companyId: string,
  eventId: string,
  attendeeId: string,
): Promise<Attendee | undefined> {
  const [row]: Row[] = await tx(table)
    .insert({ ...keyOf(companyId, eventId, attendeeId), created_at: tx.raw('clock_timestamp()') }, '*')
    .onConflict(['event_id', 'attendee_id'])
    .ignore();
  return row && fromRow(row);
}

/**
 * Removes a user from a locked event.
 * @returns whether the user was registered
 */
export async function deleteAttendee(
  tx: Tx,
  companyId: string,
  eventId: string,
  attendeeId: string,
): Promise<boolean> {
  const deleted: number = await tx(table)
    .where(keyOf(companyId, eventId, attendeeId))
    .delete();
  return deleted > 0;
}
