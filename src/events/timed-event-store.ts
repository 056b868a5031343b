import type { Database } from '../contract/transaction.ts';
import {
  markedCompany,
  markedFrom,
  markedUntil,
  markValues,
  markValuesOf,
  pageOfMarkedSql,
} from '../db/list-marks-store.ts';
import { fewSkipped, findMarked, walkOfMarkedSql } from '../db/marked-counts-store.ts';
import { momentOf } from '../db/moment-sql.ts';
import { prepared } from '../db/prepared.ts';
import { microsOf, type Span, stretchAt } from '../db/time-counts.ts';
import { beginning, countedEvents, type EventFilter, type EventPlace, latestPlace } from './event-place.ts';
import { columns } from './event-row.ts';
import { type PageRow, pageRowsSql } from './page-rows.ts';

const [limit, offset, created, id] = ['bigint', 'bigint', 'bigint', 'uuid'].map(
  (type, index) => `(SELECT $${markValues + 1 + index}::${type})`,
);

const inStretch = (place: string) => `
  company_id = ${markedCompany} AND created_at >= ${momentOf(`((${latestPlace} - ${place}) << 24)`)}
  AND created_at < ${momentOf(`((${latestPlace} - ${place} + 1) << 24)`)}`;
const isInSpan = `start_date >= ${markedFrom} AND start_date < ${markedUntil}`;

// The condition of the start stands apart, or the server may read all that start then for each stretch.
const rowsOf = (place: string) => `
  SELECT * FROM (
    SELECT ${columns} FROM events
    WHERE ${inStretch(place)} AND (created_at, id) < ((SELECT ${momentOf(String(created))}), ${id})
    ORDER BY created_at DESC, id DESC OFFSET 0) AS of_stretch
  WHERE ${isInSpan}`;

const walk = {
  name: 'walk_timed_events',
  sql: walkOfMarkedSql(
    'events',
    'one',
    (place) => `
      SELECT count(*) FILTER (WHERE ${isInSpan}) FROM (
        SELECT start_date FROM events WHERE ${inStretch(place)} OFFSET 0) AS of_stretch`,
  ),
};

const listSql = pageRowsSql(pageOfMarkedSql('events', 'one', rowsOf, `LIMIT ${limit} OFFSET ${offset}`));

type Page = { readonly limit: number; readonly offset?: number; readonly after?: EventPlace | undefined };

/** A page of those events of a company that start at the times of the filter, newest first. */
export async function listTimedEvents(
  db: Database,
  companyId: string,
  filter: EventFilter,
  { limit: most, offset: wanted = 0, after }: Page,
): Promise<PageRow[]> {
  const rows = { ...countedEvents('events', companyId), span: spanOf(filter) };
  const start =
    after === undefined && wanted > fewSkipped
      ? await findMarked(db, walk, rows, wanted)
      : { place: after && latestPlace - stretchAt(after.createdMicros), skipped: wanted };
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
