import type { Database } from '../contract/transaction.ts';
import { anyMoment } from '../db/list-marks-store.ts';
import { momentOf } from '../db/moment-sql.ts';
import { prepared } from '../db/prepared.ts';
import type { Span } from '../db/time-counts.ts';
import { beginning, type EventPlace } from './event-place.ts';
import { columns } from './event-row.ts';
import { type PageRow, pageRowsSql } from './page-rows.ts';

const [company, from, until, created, id, most, skipped] = [
  ...['text', 'bigint', 'bigint', 'bigint', 'uuid', 'bigint', 'bigint'].entries(),
].map(([index, type]) => `(SELECT $${index + 1}::${type})`);

const startsIn = `start_date >= (SELECT ${momentOf(String(from))}) AND start_date < (SELECT ${momentOf(String(until))})`;

// OFFSET 0: those that start then are found first, whatever the server makes of its samples.
const listSql = pageRowsSql(`
  SELECT ${columns} FROM events WHERE company_id = ${company} AND id = ANY (ARRAY (
    SELECT id FROM (SELECT id, created_at FROM events WHERE company_id = ${company} AND ${startsIn} OFFSET 0) AS found
    WHERE (created_at, id) < ((SELECT ${momentOf(String(created))}), ${id})
    ORDER BY created_at DESC, id DESC LIMIT ${most} OFFSET ${skipped}))`);

type Page = { readonly limit: number; readonly offset?: number; readonly after?: EventPlace | undefined };

/** A page of those events of a company that start in a span, newest first; all of these are found and sorted. */
export async function listFewEvents(
  db: Database,
  companyId: string,
  span: Partial<Span>,
  { limit, offset = 0, after = beginning }: Page,
): Promise<PageRow[]> {
  const { from: first, until: end } = { ...anyMoment, ...span };
  const { rows } = await prepared<PageRow>(db, 'list_few_events', listSql, [
    ...[companyId, String(first), String(end), String(after.createdMicros), after.id],
    ...[limit, offset],
  ]);
  return rows;
}
