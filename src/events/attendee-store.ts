import { problem } from '../base/errors.ts';
import type { Origin } from '../contract/operation.ts';
import type { Database, Tx } from '../contract/transaction.ts';
import { prepared } from '../db/connection/prepared.ts';
import { keyEntrySql, keyEntryValues } from '../db/records/audit-store.ts';
import type { MayLag } from '../db/replica/replica-reads.ts';
import { type Batches, mapBatches, readInBatches } from './batches.ts';
import type { Attendee } from './event.ts';

// Writers lock the row of the event, so the column `seq` is the order of registration.
const table = 'attendees';

// Nobody is admitted before the registration, so what registers leaves `checked_in_at` out.
type Row = { event_id: string; attendee_id: string; created_at: Date; checked_in_at?: Date | null };

function fromRow(row: Row): Attendee {
  const checkedInAt = row.checked_in_at ?? null;
  return { attendeeId: row.attendee_id, eventId: row.event_id, createdAt: row.created_at, checkedInAt };
}

function keyOf(companyId: string, eventId: string, attendeeId: string) {
  return { company_id: companyId, event_id: eventId, attendee_id: attendeeId };
}

type ListedRow = (Row & { seq: string }) | { attendee_id: null };
type PlacedRow = Row & { seq: string };

const batchSize = 1_000;

/**
 * The attendees of an event in order of registration. Each batch is read by one statement together with the event.
 * @returns undefined when the company has no such event; when it goes away later, a batch rejects
 */
export async function readAttendees(
  mayLag: MayLag,
  companyId: string,
  eventId: string,
  after?: AttendeePlace,
): Promise<Batches<Attendee> | undefined> {
  const { isGone, batches } = await readWhileThere(
    async (last) =>
      (await mayLag((db) =>
        readRows(db, companyId, eventId, { after: last?.seq ?? after, limit: batchSize }),
      )) ?? [],
  );
  if (isGone) return undefined;
  return { first: batches.first.map(fromRow), rest: batches.rest && mapBatches(batches.rest, fromRow) };
}

/** The place of an attendee in the list of an event: grows with the order of registration. */
export type AttendeePlace = string;

type AttendeePage = { readonly limit: number; readonly after: AttendeePlace | undefined };

/** A page of the attendees of an event in order of registration; undefined when the company has no such event. */
export async function listAttendees(
  db: Database,
  companyId: string,
  eventId: string,
  page: AttendeePage,
): Promise<(Attendee & { readonly place: AttendeePlace })[] | undefined> {
  const rows = await readRows(db, companyId, eventId, page);
  return rows?.filter(isAttendee).map((row) => ({ ...fromRow(row), place: row.seq }));
}

// Of a plain outer join the server would sort all attendees that come after, for each page.
const listSql = `
  SELECT a.event_id, a.attendee_id, a.created_at, a.checked_in_at, a.seq
  FROM events e LEFT JOIN LATERAL (
    SELECT event_id, attendee_id, created_at, checked_in_at, seq FROM ${table}
    WHERE company_id = e.company_id AND event_id = e.id AND seq > $3
    ORDER BY seq LIMIT $4) a ON true
  WHERE e.company_id = $1 AND e.id = $2
  ORDER BY a.seq`;

/** Rows of an event's attendees; a single empty one where it has no further ones; undefined where it is not there. */
async function readRows(
  db: Database,
  companyId: string,
  eventId: string,
  { limit, after }: AttendeePage,
): Promise<ListedRow[] | undefined> {
  const { rows } = await prepared<ListedRow>(db, 'list_attendees', listSql, [
    companyId,
    eventId,
    after ?? '0',
    limit,
  ]);
  return rows.length === 0 ? undefined : rows;
}

const isAttendee = (row: ListedRow): row is PlacedRow => row.attendee_id !== null;

/** Reads batches of a left join, which has one empty row where the event has no further attendee. */
async function readWhileThere(read: (last: PlacedRow | undefined) => Promise<ListedRow[]>) {
  let isGone = false;
  const batches = await readInBatches<PlacedRow>(async (last) => {
    const rows = await read(last);
    isGone = rows.length === 0;
    if (isGone && last !== undefined) throw new Error('the event went away while its attendees were read');
    return { items: rows.filter(isAttendee), isLast: rows.length < batchSize };
  });
  return { isGone, batches };
}

// The event is locked first, so the number of attendees is that of the moment, and nobody else changes it meanwhile.
const registerParts = `
  event AS (
    SELECT company_id, id, max_attendees <= total_attendees AS is_full FROM events
    WHERE company_id = $1 AND id = $2 FOR NO KEY UPDATE
  ), made AS (
    INSERT INTO ${table} (company_id, event_id, attendee_id, created_at)
    SELECT company_id, id, $3, clock_timestamp() FROM event WHERE is_full IS NOT TRUE
    ON CONFLICT (event_id, attendee_id) DO NOTHING RETURNING company_id, event_id, attendee_id, created_at
  ), counted AS (
    UPDATE events SET total_attendees = total_attendees + 1
    FROM made WHERE events.company_id = made.company_id AND events.id = made.event_id
  )`;
const registered = `SELECT event.is_full, made.event_id, made.attendee_id, made.created_at FROM event LEFT JOIN made ON true`;
const registerSql = `WITH ${registerParts} ${registered}`;
const toldOf = keyEntrySql({
  from: 4,
  companyId: 'made.company_id::text',
  subject: 'made.event_id::text',
  details: `jsonb_build_object('attendeeId', made.attendee_id)`,
});
const registerAndTellSql = `WITH ${registerParts}, told AS (${toldOf}) ${registered}`;

type Registration = { is_full: boolean | null } & (Row | { created_at: null });

/**
 * Registers a user for an event, by one statement.
 * @param origin the key that the audit log names for it; nobody's by default
 * @throws ProblemError `event_not_found`, `event_full`, `attendee_already_invited`
 */
export async function registerAttendee(
  db: Database,
  { companyId, eventId, attendeeId }: AttendeeKey,
  origin?: Origin,
): Promise<Attendee> {
  const key = [companyId, eventId, attendeeId];
  const registering =
    origin === undefined
      ? prepared<Registration>(db, 'register_attendee', registerSql, key)
      : prepared<Registration>(db, 'register_attendee_and_tell', registerAndTellSql, [
          ...key,
          ...keyEntryValues({ action: 'attendee.add', origin }),
        ]);
  const { rows } = await registering.catch(refuseFull);
  const [row] = rows;
  if (row === undefined) throw problem('event_not_found');
  if (row.created_at !== null) return fromRow(row);
  const isInvited = row.is_full !== true || (await hasAttendee(db, { companyId, eventId, attendeeId }));
  throw problem(isInvited ? 'attendee_already_invited' : 'event_full');
}

/** What was read with the lock may be older than `maxAttendees` when that is changed at the same moment; the table's check is not. */
function refuseFull(error: unknown): never {
  const isBeyondMost =
    error instanceof Error && 'constraint' in error && error.constraint === 'events_check2';
  throw isBeyondMost ? problem('event_full') : error;
}

type AttendeeKey = { readonly companyId: string; readonly eventId: string; readonly attendeeId: string };

/** Whether the user is registered for the event. */
async function hasAttendee(db: Database, { companyId, eventId, attendeeId }: AttendeeKey): Promise<boolean> {
  const row: Row | undefined = await db(table)
    .where(keyOf(companyId, eventId, attendeeId))
    .first('event_id');
  return row !== undefined;
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
