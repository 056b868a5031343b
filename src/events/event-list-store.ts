import type { Database } from '../contract/transaction.ts';
import { countRows, findOffset } from '../db/list-counts-store.ts';
import { endsOf } from '../db/list-levels.ts';
import { momentOf } from '../db/moment-sql.ts';
import { prepared } from '../db/prepared.ts';
import type { MayLag } from '../db/replica-reads.ts';
import { countSpan, momentSql } from '../db/time-counts.ts';
import { type Batches, mapBatches, readInBatches } from './batches.ts';
import type { EventRecord } from './event.ts';
import {
  countedEvents,
  type EventFilter,
  type EventPlace,
  type PlacedRow,
  placedColumns,
  placeOf,
} from './event-place.ts';
import { fromRow, type Row } from './event-row.ts';
import { listTimedEvents, spanOf } from './timed-event-store.ts';

const table = 'events';

export type PlacedEvent = EventRecord & { readonly place: EventPlace };

/** Where to begin in a list: behind an event, or after a number of them. */
export type EventStart =
  | { readonly after: EventPlace }
  | { readonly offset?: number; readonly after?: undefined };

const isTimed = ({ startsFrom, startsTo }: EventFilter) => (startsFrom ?? startsTo) !== undefined;

/** A page of the events of a company that match the filter, newest first. */
export async function listEvents(
  db: Database,
  companyId: string,
  filter: EventFilter,
  { limit, ...start }: EventStart & { readonly limit: number },
): Promise<PlacedEvent[]> {
  if (isTimed(filter))
    return (await listTimedEvents(db, companyId, filter, { limit, ...start })).map(fromPlaced);
  return (await listNewest(db, companyId, start, limit)).map(fromPlaced);
}

const fromPlaced = (row: PlacedRow): PlacedEvent => ({ ...fromRow(row), place: placeOf(row) });

// Events of 100 kB are followed by few, small ones by many.
const firstBatch = 20;
const batchLength = 1_000_000;

function sizeAfter(batch: readonly Row[]): number {
  const length = batch.reduce(
    (sum, { description, program }) => sum + 700 + (description?.length ?? 0) + (program?.length ?? 0),
    0,
  );
  return Math.min(200, Math.max(10, Math.floor((batchLength * batch.length) / length)));
}

/**
 * All events of a company that match the filter, newest first. What is deleted before its batch is read is not in it,
 * and what is created meanwhile neither.
 */
export async function readAllEvents(
  mayLag: MayLag,
  companyId: string,
  filter: EventFilter,
  start: EventStart = {},
): Promise<Batches<EventRecord>> {
  const { first, rest } = await readInBatches<PlacedRow>({
    size: firstBatch,
    sizeAfter,
    read: (last, size) =>
      mayLag(async (db) => {
        const next = last ? { after: placeOf(last) } : start;
        return isTimed(filter)
          ? listTimedEvents(db, companyId, filter, { limit: size, ...next })
          : listNewest(db, companyId, next, size);
      }),
  });
  return { first: first.map(fromRow), rest: rest && mapBatches(rest, fromRow) };
}

/** The number of events of a company that match the filter. */
export function countEvents(db: Database, companyId: string, filter: EventFilter): Promise<number> {
  if (!isTimed(filter)) return countRows(db, countedEvents('events', companyId));
  return countSpan(db, countedEvents('event_starts', companyId), spanOf(filter), async ({ from, until }) => {
    const [row]: { count: string }[] = await db(table)
      .where({ company_id: companyId })
      .whereRaw(`start_date >= ${momentSql} AND start_date < ${momentSql}`, [String(from), String(until)])
      .count();
    return Number(row?.count ?? 0);
  });
}

async function listNewest(
  db: Database,
  companyId: string,
  { after, ...start }: EventStart,
  limit: number,
): Promise<PlacedRow[]> {
  const offset = 'offset' in start ? (start.offset ?? 0) : 0;
  if (offset > 0) return listAtOffset(db, companyId, offset, limit);
  const query = db(table)
    .where({ company_id: companyId })
    .orderByRaw('created_at DESC, id DESC')
    .limit(limit)
    .select(db.raw(placedColumns));
  if (after)
    query.whereRaw(`(created_at, id) < (${momentSql}, ?::uuid)`, [String(after.createdMicros), after.id]);
  return query;
}

const [company, created, id, most, skipped] = [
  ...['text', 'bigint', 'uuid', 'bigint', 'bigint'].entries(),
].map(([index, type]) => `(SELECT $${index + 1}::${type})`);

// Rows that an offset skips are not read: the index has what the order needs. The server does not look into what is selected when
// it plans, so it makes one plan.
const atOffsetSql = `
  SELECT ${placedColumns} FROM events WHERE company_id = ${company} AND id = ANY (ARRAY (
    SELECT id FROM events
    WHERE company_id = ${company} AND (created_at, id) <= ((SELECT ${momentOf(String(created))}), ${id})
    ORDER BY created_at DESC, id DESC LIMIT ${most} OFFSET ${skipped}))
  ORDER BY created_at DESC, id DESC`;

async function listAtOffset(
  db: Database,
  companyId: string,
  offset: number,
  limit: number,
): Promise<PlacedRow[]> {
  const found = await findOffset(db, countedEvents('events', companyId), offset);
  if (found === undefined) return [];
  const { first } = endsOf('events', found.shift, found.bucket);
  const values = [companyId, String(first.createdMicros), first.id, limit, found.skipped];
  return (await prepared<PlacedRow>(db, 'list_events_at', atOffsetSql, values)).rows;
}
