import type { Database } from '../contract/transaction.ts';
import { countRows } from '../db/list-counts-store.ts';
import { addressOfEvent, eventAtSql } from '../db/list-levels.ts';
import {
  markedCompany,
  markedFrom,
  markedUntil,
  markValues,
  markValuesOf,
  pageOfMarkedSql,
  type RowsAt,
} from '../db/list-marks-store.ts';
import { fewSkipped, findMarked, walkOfMarkedSql } from '../db/marked-counts-store.ts';
import { momentOf } from '../db/moment-sql.ts';
import { prepared } from '../db/prepared.ts';
import { microsOf, type Span } from '../db/time-counts.ts';
import { beginning, countedEvents, type EventFilter, type EventPlace } from './event-place.ts';
import { columns } from './event-row.ts';
import { listFewEvents } from './few-events-store.ts';
import { type PageRow, pageRowsSql } from './page-rows.ts';

const [limit, offset, created, id] = ['bigint', 'bigint', 'bigint', 'uuid'].map(
  (type, index) => `(SELECT $${markValues + 1 + index}::${type})`,
);

const isInSpan = `start_date >= ${markedFrom} AND start_date < ${markedUntil}`;

const idOf = (byte: string, rest: string) => `(lpad(to_hex(${byte}), 2, '0') || repeat('${rest}', 30))::uuid`;

// The smallest parts are those of a microsecond by the first byte of the id. They stand apart, so that the server enters the
// index by a pair of equal moment and id there, and by a span of moments elsewhere.
const within = (address: string, size: string, select: (where: string) => string) => {
  const { createdMicros, firstByte } = eventAtSql(address);
  const byte = `${firstByte}::int`;
  return [
    `${size} > 0 AND created_at < ${momentOf(`(${createdMicros} + 1)`)}
      AND created_at >= ${momentOf(`(${createdMicros} + 1 - (1::bigint << greatest(${size} - 8, 0)))`)}`,
    `${size} = 0 AND created_at = ${momentOf(createdMicros)} AND id BETWEEN ${idOf(byte, '0')} AND ${idOf(byte, 'f')}`,
  ]
    .map((where) => `(${select(`company_id = ${markedCompany} AND ${where}`)})`)
    .join(' UNION ALL ');
};

// The condition of the start stands apart, or the server may read all that start then for each stretch.
const rowsOf: RowsAt = (address, size) => `
  SELECT * FROM (${within(
    address,
    size,
    (where) => `
      SELECT ${columns} FROM events
      WHERE ${where} AND (created_at, id) < ((SELECT ${momentOf(String(created))}), ${id})
      ORDER BY created_at DESC, id DESC OFFSET 0`,
  )} OFFSET 0) AS of_stretch
  WHERE ${isInSpan}`;

const countIn: RowsAt = (address, size) => `
  SELECT count(*) FILTER (WHERE ${isInSpan}) FROM (${within(
    address,
    size,
    (where) => `SELECT start_date FROM events WHERE ${where}`,
  )} OFFSET 0) AS of_stretch`;

const walk = { name: 'walk_timed_events', sql: walkOfMarkedSql('events', 'one', countIn) };

const listSql = pageRowsSql(pageOfMarkedSql('events', 'one', rowsOf, `LIMIT ${limit} OFFSET ${offset}`));

// A walk along the list reads on until it has a page: where few events match, nearly all of the others. They are sorted instead.
const fewMatches = 1_000;
// As many as are found in the time of a page, where the walk would have to read a million.
const fewOfMany = 10_000;
const fewOfAll = 1 / 200;

async function areFew(db: Database, companyId: string, total: number): Promise<boolean> {
  if (total <= fewMatches || total > fewOfMany) return total <= fewMatches;
  return total <= fewOfAll * (await countRows(db, countedEvents('events', companyId)));
}

type Page = {
  readonly limit: number;
  readonly offset?: number;
  readonly after?: EventPlace | undefined;
  /** How many events match, in all. */
  readonly total: number;
};

/** A page of those events of a company that start at the times of the filter, newest first. */
export async function listTimedEvents(
  db: Database,
  companyId: string,
  filter: EventFilter,
  page: Page,
): Promise<PageRow[]> {
  const span = spanOf(filter);
  if (await areFew(db, companyId, page.total)) return listFewEvents(db, companyId, span, page);
  const { limit: most, offset: wanted = 0, after } = page;
  const rows = { ...countedEvents('events', companyId), span };
  const start =
    after === undefined && wanted > fewSkipped
      ? await findMarked(db, walk, rows, wanted)
      : { place: after && addressOfEvent(after), skipped: wanted };
  if (start === undefined) return [];
  const { createdMicros, id: last } = after ?? beginning;
  const { rows: found } = await prepared<PageRow>(db, 'list_timed_events', listSql, [
    ...markValuesOf(rows, start.place),
    ...[most, start.skipped, String(createdMicros), last],
  ]);
  return found;
}

/** When events of the filter start; an absent end is open. */
export const spanOf = ({ startsFrom, startsTo }: EventFilter): Partial<Span> => ({
  ...(startsFrom && { from: microsOf(startsFrom) }),
  // The end is included.
  ...(startsTo && { until: microsOf(startsTo) + 1n }),
});
