import type { Database } from '../contract/transaction.ts';
import { countRows, findOffset } from '../db/list-counts-store.ts';
import { endsOf } from '../db/list-levels.ts';
import { countBeforeSql, countedCompany } from '../db/moment-counts-store.ts';
import { momentOf } from '../db/moment-sql.ts';
import { prepared } from '../db/prepared.ts';
import type { MayLag } from '../db/replica-reads.ts';
import { countSpan } from '../db/time-counts.ts';
import { type Batches, mapBatches, readInBatches } from './batches.ts';
import type { EventRecord } from './event.ts';
import { beginning, countedEvents, type EventFilter, type EventPlace } from './event-place.ts';
import { columns } from './event-row.ts';
import { type ListedEvent, type PageRow, pageRowsSql, toListed } from './page-rows.ts';
import { listTimedEvents, spanOf } from './timed-event-store.ts';

type WholeEvent = ListedEvent & { readonly event: EventRecord };

/** Where to begin in a list: behind an event, or after a number of them. */
export type EventStart =
  | { readonly after: EventPlace }
  | { readonly offset?: number; readonly after?: undefined };

const isTimed = ({ startsFrom, startsTo }: EventFilter) => (startsFrom ?? startsTo) !== undefined;

/**
 * A page of the events of a company that match the filter, newest first.
 * @param page.total how many match in all, where it is known
 */
export async function listEvents(
  db: Database,
  companyId: string,
  filter: EventFilter,
  { limit, total, ...start }: EventStart & { readonly limit: number; readonly total?: number | undefined },
): Promise<ListedEvent[]> {
  if (!isTimed(filter)) return (await listNewest(db, companyId, start, limit)).map(toListed);
  const matching = total ?? (await countEvents(db, companyId, filter));
  return (await listTimedEvents(db, companyId, filter, { limit, total: matching, ...start })).map(toListed);
}

/** The same, and how many events match in all. */
export async function listAndCount(
  db: Database,
  companyId: string,
  filter: EventFilter,
  page: EventStart & { readonly limit: number },
): Promise<readonly [ListedEvent[], number]> {
  const counting = countEvents(db, companyId, filter);
  // How many match says how to find those of some time.
  const listing = isTimed(filter)
    ? counting.then((total) => listEvents(db, companyId, filter, { ...page, total }))
    : listEvents(db, companyId, filter, page);
  return Promise.all([listing, counting]);
}

const batchSize = 200;

const isWhole = (listed: ListedEvent): listed is WholeEvent => listed.event !== undefined;
const eventOf = ({ event }: WholeEvent) => event;

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
  const total = isTimed(filter) ? await mayLag((db) => countEvents(db, companyId, filter)) : undefined;
  const { first, rest } = await readInBatches<WholeEvent>(async (last) => {
    const page = { limit: batchSize, total, ...(last ? { after: last } : start) };
    const found = await mayLag((db) => listEvents(db, companyId, filter, page));
    const items = found.filter(isWhole);
    return { items, isLast: items.length === found.length && found.length < batchSize };
  });
  return { first: first.map(eventOf), rest: rest && mapBatches(rest, eventOf) };
}

/**
 * The events of a page; those that were left are read when they are asked for, from the database that has them for sure.
 * What is deleted before is not in it.
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

/** The number of events of a company that match the filter. */
export function countEvents(db: Database, companyId: string, filter: EventFilter): Promise<number> {
  if (!isTimed(filter)) return countRows(db, countedEvents('events', companyId));
  return countSpan(db, countedEvents('event_starts', companyId), spanOf(filter), startsBefore);
}

const startsBefore = {
  name: 'count_starts_before',
  sql: countBeforeSql(
    'event_starts',
    (from, until) => `
      SELECT count(*) FROM events WHERE company_id = ${countedCompany}
        AND start_date >= ${momentOf(from)} AND start_date < ${momentOf(until)}`,
  ),
};

const [company, created, id, most, skipped] = [
  ...['text', 'bigint', 'uuid', 'bigint', 'bigint'].entries(),
].map(([index, type]) => `(SELECT $${index + 1}::${type})`);

// The server does not look into what is selected when it plans, so it makes one plan for all values.
const place = `((SELECT ${momentOf(String(created))}), ${id})`;
const newestFirst = 'ORDER BY created_at DESC, id DESC';

const newestSql = pageRowsSql(`
  SELECT ${columns} FROM events WHERE company_id = ${company} AND (created_at, id) < ${place} ${newestFirst} LIMIT ${most}`);

// Rows that an offset skips are not read: the index has what the order needs.
const atOffsetSql = pageRowsSql(`
  SELECT ${columns} FROM events WHERE company_id = ${company} AND id = ANY (ARRAY (
    SELECT id FROM events WHERE company_id = ${company} AND (created_at, id) <= ${place}
    ${newestFirst} LIMIT ${most} OFFSET ${skipped}))`);

const leftSql = pageRowsSql(`SELECT ${columns} FROM events WHERE company_id = $1 AND id = ANY ($2::uuid[])`);

async function listNewest(
  db: Database,
  companyId: string,
  { after = beginning, ...start }: EventStart,
  limit: number,
): Promise<PageRow[]> {
  const offset = 'offset' in start ? (start.offset ?? 0) : 0;
  if (offset > 0) return listAtOffset(db, companyId, offset, limit);
  const values = [companyId, String(after.createdMicros), after.id, limit];
  return (await prepared<PageRow>(db, 'list_events', newestSql, values)).rows;
}

async function listAtOffset(
  db: Database,
  companyId: string,
  offset: number,
  limit: number,
): Promise<PageRow[]> {
  const found = await findOffset(db, countedEvents('events', companyId), offset);
  if (found === undefined) return [];
  const { first } = endsOf('events', found.shift, found.bucket);
  const values = [companyId, String(first.createdMicros), first.id, limit, found.skipped];
  return (await prepared<PageRow>(db, 'list_events_at', atOffsetSql, values)).rows;
}
