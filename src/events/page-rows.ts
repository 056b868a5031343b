import { microsSql } from '../db/schema/moment-sql.ts';
import type { EventPlace, EventRecord } from './event.ts';
import { type EventRow, eventColumns, fromRow } from './event-row.ts';

// As much as a process makes of events, and as PostgreSQL reads, before others come in between.
const mostBytes = 256 * 1024;

const texts = ['description', 'program'];
const arrays = ['contract_required_to_attend', 'contract_required_to_discount', 'gallery_images'];

// Both are known without reading a long value. The exception is a compressed array, which may come to 255 times as
// much.
const bytesOfText = (column: string) => `coalesce(octet_length(${column}), 0)`;
const bytesOfArray = (column: string) =>
  `CASE WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
    ELSE octet_length(array_to_string(${column}, '')) END`;
const bytes = [...texts.map(bytesOfText), ...arrays.map(bytesOfArray)].join(' + ');

const isLong = new Set([...texts, ...arrays]);
const read = eventColumns
  .split(',')
  .map((column) =>
    isLong.has(column) ? `CASE WHEN bytes_before <= ${mostBytes} THEN ${column} END AS ${column}` : column,
  );

/** A row with the microseconds of its creation, finer than a Date; without its long values where it is left for later. */
export type PageRow = EventRow & { readonly created_micros: string; readonly is_left: boolean };

/** The place of an event of a page, with the event; without it where those before it are so large that it was left for later. */
export type ListedEvent = EventPlace & { readonly event: EventRecord | undefined };

/**
 * SQL of the rows of a page, newest first: whole rows up to a bound in bytes, and places of the rows after it.
 * @param rows SQL of the rows, with the columns of events
 */
export const pageRowsSql = (rows: string): string => `
  SELECT ${read}, ${microsSql('created_at')} AS created_micros, bytes_before > ${mostBytes} AS is_left
  FROM (
    SELECT *, coalesce(sum(${bytes}) OVER (
      ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
    FROM (${rows}) AS rows) AS page
  ORDER BY created_at DESC, id DESC`;

export const toListed = (row: PageRow): ListedEvent => ({
  createdMicros: BigInt(row.created_micros),
  id: row.id,
  event: row.is_left ? undefined : fromRow(row),
});
