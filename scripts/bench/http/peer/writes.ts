import type { Caller } from './keys.ts';
import type { Visit } from './reads.ts';
import { type EventRow, eventOf } from './rows.ts';
import type { Ask } from './statements.ts';

type EventBody = Readonly<Record<string, unknown>>;
type Registration = { readonly created_at: Date };

const fields = [
  ...[
    'name',
    'location',
    'description',
    'program',
    'startDate',
    'endDate',
    'maxAttendees',
    'price',
    'currency',
  ],
  ...['discountPrice', 'discountPercentage', 'coverImage', 'chainId'],
];
const columns = [
  ...[
    'name',
    'location',
    'description',
    'program',
    'start_date',
    'end_date',
    'max_attendees',
    'price',
    'currency',
  ],
  ...['discount_price', 'discount_percentage', 'cover_image', 'chain_id'],
];

const createSql = `
  WITH made AS (
    INSERT INTO events (company_id, ${columns.join(', ')})
    VALUES ($1, ${columns.map((_, index) => `$${index + 5}`).join(', ')}) RETURNING *
  ), told AS (
    INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, subject, request_id)
    SELECT 'key', $2, $3, $1::uuid::text, 'event.create', made.id::text, $4 FROM made
  ) SELECT * FROM made`;

// One statement is a transaction: the event is locked, counted and filled by it.
const addSql = `
  WITH place AS (
    UPDATE events SET total_attendees = total_attendees + 1
    WHERE company_id = $1 AND id = $5 AND (max_attendees IS NULL OR total_attendees < max_attendees) RETURNING id
  ), made AS (
    INSERT INTO attendees (company_id, event_id, attendee_id, created_at)
    SELECT $1, place.id, $6, clock_timestamp() FROM place RETURNING created_at
  ), told AS (
    INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, subject, request_id, details)
    SELECT 'key', $2, $3, $1::uuid::text, 'attendee.add', $5::uuid::text, $4, jsonb_build_object('attendeeId', $6::text)
    FROM made
  ) SELECT created_at FROM made`;

export type Writes = ReturnType<typeof createWrites>;

export function createWrites(ask: Ask) {
  const by = ({ companyId, keyId }: Caller, from: Visit) => [companyId, keyId, from.address, from.requestId];
  return {
    async createEvent(caller: Caller, body: EventBody, from: Visit) {
      const values = [...by(caller, from), ...fields.map((field) => body[field] ?? null)];
      const [row] = await ask<EventRow>('create event', createSql, values);
      return row && eventOf(row);
    },
    async addAttendee(caller: Caller, eventId: string, attendeeId: string, from: Visit) {
      const values = [...by(caller, from), eventId, attendeeId];
      const [row] = await ask<Registration>('add attendee', addSql, values);
      return row && { attendeeId, eventId, createdAt: row.created_at.toISOString() };
    },
  };
}
