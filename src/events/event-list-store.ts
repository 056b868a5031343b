import type { Database } from '../contract/transaction.ts';
import { type CountedRows, countRows, findOffset } from '../db/list-counts-store.ts';
import type { MayLag } from '../db/replica-reads.ts';
import { countSpan, microsOf, microsSql, momentSql, type Span, startOfTime } from '../db/time-counts.ts';
import { type Batches, mapBatches, readInBatches } from './batches.ts';
import type { EventRecord } from './event.ts';
import { fromRow, type Row } from './event-row.ts';

const table = 'events';

/** Which events to list: those whose start lies between both ends, which are included. */
export type EventFilter = {
  readonly startsFrom?: Date | undefined;
  readonly startsTo?: Date | undefined;
};

/** The place of an event in the list: by creation, then id. */
type EventPlace = { readonly createdMicros: bigint; readonly id: string };
export type PlacedEvent = EventRecord & { readonly place: EventPlace };

/** Where to begin in a list: behind an event, or after a number of them. */
export type EventStart =
  | { readonly after: EventPlace }
  | { readonly offset?: number; readonly after?: undefined };

/** A page of the events of a company that match the filter, newest first. */
export async function listEvents(
  db: Database,
  companyId: string,
  filter: EventFilter,
  { limit, ...start }: EventStart & { readonly limit: number },
): Promise<PlacedEvent[]> {
  const from = await newestFrom(db, companyId, filter, start);
  if (from === undefined) return [];
  const page = from.query.limit(limit);
  // Rows that an offset skips are not read: the index has what the order needs.
  const ids = db.select('id').from(page.clone().select('id').as('page'));
  const isDeep = start.after === undefined && (start.offset ?? 0) > 0;
  const rows = isDeep ? newestFirst(db(table).where({ company_id: companyId }).whereIn('id', ids)) : page;
  return (await selectPlaced(db, rows)).map(fromPlaced);
}

/** An event with the microseconds of its creation, finer than a Date. */
type PlacedRow = Row & { created_micros: string };

const placeOf = (row: PlacedRow): EventPlace => ({ createdMicros: BigInt(row.created_micros), id: row.id });
const fromPlaced = (row: PlacedRow): PlacedEvent => ({ ...fromRow(row), place: placeOf(row) });

async function selectPlaced(db: Database, query: EventQuery): Promise<PlacedRow[]> {
  return query.select('*', db.raw(`${microsSql('created_at')} AS created_micros`));
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
        const from = await newestFrom(db, companyId, filter, last ? { after: placeOf(last) } : start);
        return from === undefined ? [] : selectPlaced(db, from.query.limit(size));
      }),
  });
  return { first: first.map(fromRow), rest: rest && mapBatches(rest, fromRow) };
}

/** The number of events of a company that match the filter. */
export function countEvents(db: Database, companyId: string, filter: EventFilter): Promise<number> {
  const { startsFrom, startsTo } = filter;
  if (startsFrom === undefined && startsTo === undefined) return countRows(db, counted('events', companyId));
  const span: Partial<Span> = {
    ...(startsFrom && { from: microsOf(startsFrom) }),
    // The end is included.
    ...(startsTo && { until: microsOf(startsTo) + 1n }),
  };
  return countSpan(db, counted('event_starts', companyId), span, async ({ from, until }) => {
    const [row]: { count: string }[] = await db(table)
      .where({ company_id: companyId })
      .whereRaw(`start_date >= ${momentSql} AND start_date < ${momentSql}`, [String(from), String(until)])
      .count();
    return Number(row?.count ?? 0);
  });
}

const counted = (list: 'events' | 'event_starts', companyId: string): CountedRows => ({
  ...{ list, companyId, facets: [''] },
});

type EventQuery = ReturnType<typeof matching>;

function matching(db: Database, companyId: string, { startsFrom, startsTo }: EventFilter) {
  const query = db(table).where({ company_id: companyId });
  if (startsFrom !== undefined) query.where('start_date', '>=', startsFrom.toISOString());
  if (startsTo !== undefined) query.where('start_date', '<=', startsTo.toISOString());
  return query;
}

const newestFirst = (query: EventQuery): EventQuery =>
  query.orderBy([
    { column: 'created_at', order: 'desc' },
    { column: 'id', order: 'desc' },
  ]);

// As migration 0039 has it: the newest come first, and so do their places.
const latestPlace = (1n << 40n) - 1n;

/** The events from some place of the list on; undefined past its end. In an object, since a query is a promise, too. */
async function newestFrom(
  db: Database,
  companyId: string,
  filter: EventFilter,
  start: EventStart,
): Promise<{ query: EventQuery } | undefined> {
  const query = newestFirst(matching(db, companyId, filter));
  if (start.after) {
    const { createdMicros, id } = start.after;
    query.whereRaw(`(created_at, id) < (${momentSql}, ?::uuid)`, [String(createdMicros), id]);
    return { query };
  }
  const { offset = 0 } = start;
  if (offset === 0) return { query };
  // Along the list only all events are counted, not those of some days.
  if (filter.startsFrom ?? filter.startsTo) return { query: query.offset(offset) };
  const found = await findOffset(db, counted('events', companyId), offset);
  if (found === undefined) return undefined;
  const until = startOfTime(latestPlace - found.place + 1n);
  query.whereRaw(`created_at < ${momentSql}`, [String(until)]).offset(found.skipped);
  return { query };
}
