import type { Database, Tx } from '../contract/transaction.ts';
import { prepared } from '../db/prepared.ts';
import { type Batches, mapBatches, readInBatches } from './batches.ts';
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

type ListedRow = (Row & { seq: string }) | { attendee_id: null };
type PlacedRow = Row & { seq: string };

const batchSize = 1_000;

/**
 * The attendees of an event in order of registration. Each batch is read by one statement together with the event.
 * @returns undefined when the company has no such event; when it goes away later, a batch rejects
 */
export async function readAttendees(
  db: Database,
  companyId: string,
  eventId: string,
): Promise<Batches<Attendee> | undefined> {
  const readRows = (after: PlacedRow | undefined, size: number): Promise<ListedRow[]> =>
    db('events as e')
      .leftJoin(`${table} as a`, (join) => {
        join.on('a.company_id', 'e.company_id').andOn('a.event_id', 'e.id');
        if (after !== undefined) join.andOnVal('a.seq', '>', after.seq);
      })
      .where({ 'e.company_id': companyId, 'e.id': eventId })
      .orderBy('a.seq')
      .limit(size)
      .select('a.event_id', 'a.attendee_id', 'a.created_at', 'a.seq');
  const { isGone, batches } = await readWhileThere(readRows);
  if (isGone) return undefined;
  return { first: batches.first.map(fromRow), rest: batches.rest && mapBatches(batches.rest, fromRow) };
}

/** Reads batches of a left join, which has one empty row where the event has no further attendee. */
async function readWhileThere(
  readRows: (after: PlacedRow | undefined, size: number) => Promise<ListedRow[]>,
) {
  let isGone = false;
  const batches = await readInBatches<PlacedRow>({
    size: batchSize,
    read: async (after, size) => {
      const rows = await readRows(after, size);
      isGone = rows.length === 0;
      if (isGone && after !== undefined) throw new Error('the event went away while its attendees were read');
      return rows.filter((row): row is PlacedRow => row.attendee_id !== null);
    },
  });
  return { isGone, batches };
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

const insertSql = `
  INSERT INTO ${table} (company_id, event_id, attendee_id, created_at) VALUES ($1, $2, $3, clock_timestamp())
  ON CONFLICT (event_id, attendee_id) DO NOTHING RETURNING event_id, attendee_id, created_at`;

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
  const { rows } = await prepared<Row>(tx, 'insert_attendee', insertSql, [companyId, eventId, attendeeId]);
  const [row] = rows;
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
