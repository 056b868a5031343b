import type { Knex } from 'knex';
import { type Batches, mapBatches, readInBatches } from '../contract/batches.ts';
import type { Database } from '../contract/transaction.ts';
import { prepared, preparedQuery } from '../db/connection/prepared.ts';
import type { MayLag } from '../db/replica/replica-reads.ts';
import { momentSql } from '../db/schema/moment-sql.ts';
import type { EventFilter, EventPlace, EventRecord } from './event.ts';
import { eventColumns } from './event-row.ts';
import { type ListedEvent, type PageRow, pageRowsSql, toListed } from './page-rows.ts';

type WholeEvent = ListedEvent & { readonly event: EventRecord };

/** Where to begin in a list: behind an event, or after a number of them. */
export type EventStart =
  | { readonly after: EventPlace }
  | { readonly offset?: number; readonly after?: undefined };

// Before every event, in a time that the server knows.
const beginning: EventPlace = { createdMicros: 1n << 61n, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** A page of the events of a company that match the filter, newest first. */
export async function listEvents(
  db: Database,
  companyId: string,
  filter: EventFilter,
  { limit, ...start }: EventStart & { readonly limit: number },
): Promise<ListedEvent[]> {
  const { createdMicros, id } = start.after ?? beginning;
  // The index has what the order and the filters need, so rows that an offset skips are not read.
  const ids = matching(db, companyId, filter)
    .select('id')
    .whereRaw(`(created_at, id) < (${momentSql}, ?::uuid)`, [String(createdMicros), id])
    .orderByRaw('created_at DESC, id DESC')
    .limit(limit)
    .offset('offset' in start ? (start.offset ?? 0) : 0)
    .toSQL();
  const page = db.raw(
    pageRowsSql(`SELECT ${eventColumns} FROM events WHERE company_id = ? AND id = ANY (ARRAY (${ids.sql}))`),
    [companyId, ...ids.bindings],
  );
  const rows: PageRow[] = isOfSomeDays(filter) ? (await page).rows : await preparedQuery<PageRow>(db, page);
  return rows.map(toListed);
}

/** The number of events of a company that match the filter. */
export async function countEvents(db: Database, companyId: string, filter: EventFilter): Promise<number> {
  const count = matching(db, companyId, filter).count();
  const [row] = isOfSomeDays(filter) ? await count : await preparedQuery<{ count: string }>(db, count);
  return Number(row?.count ?? 0);
}

/** Whether one plan is not right for all values: of some days an index by start is the better one. */
const isOfSomeDays = ({ startsFrom, startsTo }: EventFilter): boolean =>
  startsFrom !== undefined || startsTo !== undefined;

/** A new filter needs a line here, and its column in the index `events_listed`, so that neither totals nor offsets read rows. */
function matching(db: Database, companyId: string, { startsFrom, startsTo }: EventFilter): Knex.QueryBuilder {
  const query = db('events').where('company_id', companyId);
  if (startsFrom !== undefined) query.where('start_date', '>=', startsFrom);
  if (startsTo !== undefined) query.where('start_date', '<=', startsTo);
  return query;
}

const batchSize = 200;

const isWhole = (listed: ListedEvent): listed is WholeEvent => listed.event !== undefined;
const eventOf = ({ event }: WholeEvent) => event;

/**
 * Reads all events of a company that match the filter, newest first. An event that is deleted before its batch is read
 * is not in the list. An event that is created meanwhile is not in it either.
 */
export async function readAllEvents(
  mayLag: MayLag,
  companyId: string,
  filter: EventFilter,
  start: EventStart = {},
): Promise<Batches<EventRecord>> {
  const { first, rest } = await readInBatches<WholeEvent>(async (last) => {
    const page = { limit: batchSize, ...(last ? { after: last } : start) };
    const found = await mayLag((db) => listEvents(db, companyId, filter, page));
    const items = found.filter(isWhole);
    return { items, isLast: items.length === found.length && found.length < batchSize };
  });
  return { first: first.map(eventOf), rest: rest && mapBatches(rest, eventOf) };
}

/**
 * Returns the events of a page. Events that were left out are read when they are asked for, from the database that has
 * them for sure. An event that is deleted before is not in the list.
 */
export function readListed(
  db: Database,
  companyId: string,
  page: readonly ListedEvent[],
): Batches<EventRecord> {
  const first = page.filter(isWhole).map(eventOf);
  const others = page.slice(first.length);
  if (others.length === 0) return { first, rest: undefined };
  const rest = async function* () {
    for (let left = others; left.length > 0; ) {
      const ids = left.map(({ id }) => id);
      const { rows } = await prepared<PageRow>(db, 'list_events_left', leftSql, [companyId, ids]);
      const found = rows.map(toListed);
      const read = found.filter(isWhole);
      left = found.slice(read.length);
      yield read.map(eventOf);
    }
  };
  return { first, rest: rest() };
}

const leftSql = pageRowsSql(
  `SELECT ${eventColumns} FROM events WHERE company_id = $1 AND id = ANY ($2::uuid[])`,
);
