import { type CountedRows, placesOf, shiftsWithin } from './list-counts-store.ts';
import { shiftsOf } from './list-levels.ts';
import { momentOf } from './moment-sql.ts';
import type { Value } from './prepared.ts';
import type { Span } from './time-counts.ts';

/*
 * Reads pages of lists that a moment narrows, past the stretches in which nothing matches: counters mark the latest moment of
 * their rows, and the earliest where a list can be asked for what lies before a moment (migration 0045).
 */

/** Rows of a list with marks whose moment lies in the span; an absent end is open. */
export type MarkedRows = CountedRows & { readonly span: Partial<Span> };

/** SQL of the company that asks. */
export const markedCompany = '(SELECT $1::text)';

/** How many values of its own a page begins with; those of the caller come behind them. */
export const markValues = 7;

const [from, until] = ['(SELECT $3::bigint)', '(SELECT $4::bigint)'];

/** SQL of the same ends in microseconds. */
export const markedSpan = { from, until };

/** SQL of the moments that a page is asked for, the second one not included; worked out once, not for each row. */
export const markedFrom = `(SELECT ${momentOf('$3::bigint')})`;
export const markedUntil = `(SELECT ${momentOf('$4::bigint')})`;

const facets = '((SELECT $2::text[])::text[])';

/** A list whose counters have marks. */
export type MarkedList = 'nfts' | 'events';
/** How many facets a list is asked for. */
export type MarkedFacet = 'one' | 'some';

/** SQL of what a facet is that a page is asked for: of one, the server finds its rows and counters by an index. */
export const markedFacet = { one: `= (${facets})[1]`, some: `= ANY ${facets}` } as const;

// Beyond every moment but that of rows without one, and a time that the server knows.
const open = { from: -200_000_000_000_000_000n, until: 1n << 61n };

/**
 * The values of `pageOfMarkedSql`.
 * @param start the place to begin at, in or behind the first of `rows`; the first by default
 */
export function markValuesOf(rows: MarkedRows, start?: bigint): Value[] {
  const span = { ...open, ...rows.span };
  const { low, high } = placesOf(rows);
  const values = [span.from, span.until, start === undefined || start < low ? low : start, high].map(String);
  return [rows.companyId, rows.facets, ...values, shiftsWithin(rows).length];
}

/** SQL of whether what a counter or a change counts may match. */
export const mayMatch = `(latest IS NULL OR latest >= ${from}) AND (earliest IS NULL OR earliest < ${until})`;

/** SQL of whether a counter or a change is of a facet that is asked for. */
// Of several facets it would enter the index for each, and then sort.
export const isAsked = { one: `facet ${markedFacet.one}`, some: `facet || '' ${markedFacet.some}` };

/** SQL of where a walk ends in the next wider stretches behind an empty one: at the end of the one around those. */
export const aroundSql = (shifts: string): string =>
  `((((w.until - 1) >> ${shifts}[w.level + 2]) + 1) << ${shifts}[w.level + 2])`;

/**
 * SQL of a page of rows, in the order of the list: it walks down the counters to each of the smallest stretches where a
 * row may match, as far as the page needs. Changes that are not folded yet are marks, too. The server makes one plan for all
 * of them, since it does not look into values that are selected: plans of their own took as long as the page.
 * @param facet how many facets it is asked for
 * @param rowsOf the rows in the stretch of a place, in their order
 * @param limit SQL of how many, and how many are skipped
 */
export function pageOfMarkedSql(
  list: MarkedList,
  facet: MarkedFacet,
  rowsOf: (place: string) => string,
  limit: string,
): string {
  const ofList = `company_id = ${markedCompany} AND list = '${list}' AND ${isAsked[facet]} AND ${mayMatch}`;
  const shifts = `('{${shiftsOf[list].join()}}'::int[])`;
  const [top, high] = ['$7::int', '$6::bigint'];
  return `
    WITH RECURSIVE pending AS MATERIALIZED (
      SELECT coalesce(array_agg(DISTINCT place ORDER BY place), '{}') AS places FROM list_changes
      WHERE ${ofList} AND place >= (SELECT $5::bigint) AND place < (SELECT $6::bigint)),
    walk (level, place, until, found) AS (
      SELECT ${top}, $5::bigint, ${high}, NULL::bigint
      UNION ALL
      SELECT CASE WHEN bucket IS NULL THEN level + 1 ELSE greatest(level - 1, 1) END,
        CASE WHEN bucket IS NULL THEN until WHEN level = 1 THEN bucket + 1 ELSE greatest(place, bucket << shift) END,
        CASE WHEN bucket IS NULL THEN CASE WHEN level + 1 < ${top} THEN least(${high}, ${aroundSql(shifts)}) ELSE ${high} END
          WHEN level = 1 THEN until ELSE least(until, (bucket + 1) << shift) END,
        CASE WHEN level = 1 THEN bucket END
      FROM (
        SELECT w.*, s.shift, least(
          (SELECT bucket FROM list_counts WHERE shift = s.shift
             AND bucket BETWEEN w.place >> s.shift AND (w.until - 1) >> s.shift AND ${ofList} ORDER BY bucket LIMIT 1),
          CASE WHEN n.place < w.until THEN n.place >> s.shift END) AS bucket
        FROM walk w
        CROSS JOIN LATERAL (SELECT ${shifts}[w.level] AS shift OFFSET 0) AS s
        CROSS JOIN LATERAL (
          SELECT p.places[width_bucket(w.place - 1, p.places) + 1] AS place FROM pending p OFFSET 0) AS n
        OFFSET 0) AS w
      WHERE bucket IS NOT NULL OR until < ${high})
    SELECT r.* FROM walk w CROSS JOIN LATERAL (${rowsOf('w.found')} OFFSET 0) AS r
    WHERE w.found IS NOT NULL ${limit}`;
}
