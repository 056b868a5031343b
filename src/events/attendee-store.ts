import type { Knex } from 'knex';
import type { Tx } from '../contract/transaction.ts';
import type { Attendee } from './event.ts';

const table = 'attendees';

type Row = { event_id: string; attendee_id: string; created_at: Date };

export type AttendeeStore = ReturnType<typeof createAttendeeStore>;

/** The attendees of events. Writers hold the lock of the event's row, so `seq` is the order of registration. */
export function createAttendeeStore(db: Knex) {
  return {
    /** In order of registration; undefined when the company has no such event. One statement, so one moment. */
    async list(companyId: string, eventId: string): Promise<Attendee[] | undefined> {
      const rows: (Row | { attendee_id: null })[] = await db('events as e')
        .leftJoin(`${table} as a`, { 'a.company_id': 'e.company_id', 'a.event_id': 'e.id' })
        .where({ 'e.company_id': companyId, 'e.id': eventId })
        .orderBy('a.seq')
        .select('a.event_id', 'a.attendee_id', 'a.created_at');
      if (rows.length === 0) return undefined;
      return rows.flatMap((row) => (row.attendee_id === null ? [] : [fromRow(row)]));
    },

    async has(tx: Tx, companyId: string, eventId: string, attendeeId: string): Promise<boolean> {
      const row: Row | undefined = await tx(table)
        .where(keyOf(companyId, eventId, attendeeId))
        .first('event_id');
      return row !== undefined;
    },

    /** @returns undefined when the user is registered already */
    async insert(
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
    },

    /** @returns whether the user was registered */
    async remove(tx: Tx, companyId: string, eventId: string, attendeeId: string): Promise<boolean> {
      const removed: number = await tx(table)
        .where(keyOf(companyId, eventId, attendeeId))
        .delete();
      return removed > 0;
    },
  };
}

function keyOf(companyId: string, eventId: string, attendeeId: string) {
  return { company_id: companyId, event_id: eventId, attendee_id: attendeeId };
}

function fromRow(row: Row): Attendee {
  return { attendeeId: row.attendee_id, eventId: row.event_id, createdAt: row.created_at };
}
