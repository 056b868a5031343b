import type { Database } from '../contract/transaction.ts';
import { countRows, findOffset } from '../db/list-counts-store.ts';
import { endsOf } from '../db/list-levels.ts';
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
  const from = await newestFrom(db, companyId, start);
  if (from === undefined) return [];
  const page = from.query.limit(limit);
  // Rows that an offset skips are not read: the index has what the order needs.
  const ids = db.select('id').from(page.clone().select('id').as('page'));
  const isDeep = start.after === undefined && (start.offset ?? 0) > 0;
  const rows = isDeep ? newestFirst(eventsOf(db, companyId).whereIn('id', ids)) : page;
  return (await selectPlaced(db, rows)).map(fromPlaced);
}

const fromPlaced = (row: PlacedRow): PlacedEvent => ({ ...fromRow(row), place: placeOf(row) });

async function selectPlaced(db: Database, query: EventQuery): Promise<PlacedRow[]> {
  return query.select(db.raw(placedColumns));
}

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
        if (isTimed(filter)) return listTimedEvents(db, companyId, filter, { limit: size, ...next });
        const from = await newestFrom(db, companyId, next);
        return from === undefined ? [] : selectPlaced(db, from.query.limit(size));
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

type EventQuery = ReturnType<typeof eventsOf>;

const eventsOf = (db: Database, companyId: string) => db(table).where({ company_id: companyId });

const newestFirst = (query: EventQuery): EventQuery =>
  query.orderBy([
    { column: 'created_at', order: 'desc' },
    { column: 'id', order: 'desc' },
  ]);

/** The events from some place of the list on; undefined past its end. In an object, since a query is a promise, too. */
async function newestFrom(
  db: Database,
  companyId: string,
  start: EventStart,
): Promise<{ query: EventQuery } | undefined> {
  const query = newestFirst(eventsOf(db, companyId));
  if (start.after) {
    const { createdMicros, id } = start.after;
    query.whereRaw(`(created_at, id) < (${momentSql}, ?::uuid)`, [String(createdMicros), id]);
    return { query };
  }
  const { offset = 0 } = start;
  if (offset === 0) return { query };
  const found = await findOffset(db, countedEvents('events', companyId), offset);
  if (found === undefined) return undefined;
  const { createdMicros, id } = endsOf('events', found.shift, found.bucket).first;
  query
    .whereRaw(`(created_at, id) <= (${momentSql}, ?::uuid)`, [String(createdMicros), id])
    .offset(found.skipped);
  return { query };
}
