import type { Database } from '../contract/transaction.ts';
import {
  markedCompany,
  markedFrom,
  markedUntil,
  markValues,
  markValuesOf,
  pageOfMarkedSql,
} from '../db/list-marks-store.ts';
import { prepared } from '../db/prepared.ts';
import { microsOf, momentOf, type Span, stretchAt } from '../db/time-counts.ts';
import {
  countedEvents,
  type EventFilter,
  type EventPlace,
  latestPlace,
  type PlacedRow,
  placedColumns,
} from './event-place.ts';
import { columns } from './event-row.ts';

const [limit, offset, created, id] = ['bigint', 'bigint', 'bigint', 'uuid'].map(
  (type, index) => `(SELECT $${markValues + 1 + index}::${type})`,
);

// The condition of the start stands apart, or the server may read all that start then for each stretch.
const rowsOf = (place: string) => `
  SELECT * FROM (
    SELECT ${columns} FROM events
    WHERE company_id = ${markedCompany} AND created_at >= ${momentOf(`((${latestPlace} - ${place}) << 24)`)}
      AND created_at < ${momentOf(`((${latestPlace} - ${place} + 1) << 24)`)}
      AND (created_at, id) < ((SELECT ${momentOf(String(created))}), ${id})
    ORDER BY created_at DESC, id DESC OFFSET 0) AS of_stretch
  WHERE start_date >= ${markedFrom} AND start_date < ${markedUntil}`;

const listSql = `
  SELECT ${placedColumns} FROM (${pageOfMarkedSql('events', 'one', rowsOf, `LIMIT ${limit} OFFSET ${offset}`)}) AS e
  ORDER BY created_at DESC, id DESC`;

type Page = { readonly limit: number; readonly offset?: number; readonly after?: EventPlace | undefined };

// Before every event, in a time that the server knows.
const beginning: EventPlace = { createdMicros: 1n << 61n, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** A page of those events of a company that start at the times of the filter, newest first. */
export async function listTimedEvents(
  db: Database,
  companyId: string,
  filter: EventFilter,
  { limit: most, offset: skipped = 0, after }: Page,
): Promise<PlacedRow[]> {
  const rows = { ...countedEvents('events', companyId), span: spanOf(filter) };
  const start = after && latestPlace - stretchAt(after.createdMicros);
  const { createdMicros, id: last } = after ?? beginning;
  const { rows: found } = await prepared<PlacedRow>(db, 'list_timed_events', listSql, [
    ...markValuesOf(rows, start),
    ...[most, skipped, String(createdMicros), last],
  ]);
  return found;
}

/** When events of the filter start; an absent end is open. */
export const spanOf = ({ startsFrom, startsTo }: EventFilter): Partial<Span> => ({
  ...(startsFrom && { from: microsOf(startsFrom) }),
  // The end is included.
  ...(startsTo && { until: microsOf(startsTo) + 1n }),
});
