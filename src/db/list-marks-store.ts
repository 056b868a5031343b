import { type CountedRows, placesOf, shiftsWithin } from './list-counts-store.ts';
import { addressSql, bucketBaseSql, levelsOf, manyRows, partLevelsOf, restBits } from './list-levels.ts';
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

/** The span of all moments: beyond every one but that of rows without one, and times that the server knows. */
export const anyMoment = { from: -200_000_000_000_000_000n, until: 1n << 61n };

/**
 * The values of `pageOfMarkedSql`.
 * @param start the address to begin at, in or behind the first of `rows`; the first by default
 */
export function markValuesOf(rows: MarkedRows, start?: bigint): Value[] {
  const span = { ...anyMoment, ...rows.span };
  // The ends of a list whose addresses are not its places are beyond them, too.
  const { low, high } = placesOf(rows);
  const values = [span.from, span.until, start === undefined || start < low ? low : start, high].map(String);
  return [rows.companyId, rows.facets, ...values, partLevelsOf(rows.list).length + shiftsWithin(rows).length];
}

/** SQL of whether what a counter or a change counts may match. */
export const mayMatch = `(latest IS NULL OR latest >= ${from}) AND (earliest IS NULL OR earliest < ${until})`;

/** SQL of whether a counter or a change is of a facet that is asked for. */
// Of several facets it would enter the index for each, and then sort.
export const isAsked = { one: `facet ${markedFacet.one}`, some: `facet || '' ${markedFacet.some}` };

/** SQL of a walk (`w`) along the stretches of a list, down to parts where a stretch has them. */
export function walkSql(list: MarkedList, facet: MarkedFacet) {
  const [levels, bits] = [levelsOf(list), restBits(list)];
  const shifts = `('{${levels.join()}}'::int[])`;
  const sizes = `('{${levels.map((shift) => shift + bits).join()}}'::int[])`;
  const ofList = `company_id = ${markedCompany} AND list = '${list}' AND ${isAsked[facet]}`;
  const rowsAt = (shift: string, buckets: string) => `
    (SELECT sum(count) FROM list_counts WHERE ${ofList} AND shift = ${shift} AND ${buckets})`;
  const [part] = partLevelsOf(list);
  const width = part === undefined ? 0 : -part.shift;
  return {
    /** The level: its shift, the size of its stretches in addresses, as a shift, and what their numbers begin with. */
    level: `CROSS JOIN LATERAL (
      SELECT shift, size, ${bucketBaseSql(list, 'shift')} AS base
      FROM (SELECT ${shifts}[w.level] AS shift, ${sizes}[w.level] AS size) AS l OFFSET 0) AS s`,
    /** Where it ends in the next wider stretches behind an empty one: at the end of the one around those. */
    around: `((((w.until - 1) >> ${sizes}[w.level + 2]) + 1) << ${sizes}[w.level + 2])`,
    /** Whether `stop`, a stretch of its level, is one with many rows, and has parts with all of them. */
    isParted:
      part === undefined
        ? 'false'
        : `CASE WHEN level > 1 AND shift <= 0 THEN (
            SELECT n > ${manyRows} AND n = ${rowsAt(`w.shift - ${width}`, `bucket BETWEEN (w.stop << ${width}) AND (w.stop << ${width}) + ${(1 << width) - 1}`)}
            FROM ${rowsAt('w.shift', 'bucket = w.stop + w.base')} AS own (n)) ELSE false END`,
    address: addressSql(list),
  };
}

/**
 * SQL of a page of rows, in the order of the list: it walks down the counters to each of the smallest stretches where a
 * row may match, and to their parts, as far as the page needs. Changes that are not folded yet are marks, too. The server makes
 * one plan for all of them, since it does not look into values that are selected: plans of their own took as long as the page.
 * @param facet how many facets it is asked for
 * @param rowsOf the rows from an address on, in a stretch or part of some size, in their order
 * @param limit SQL of how many, and how many are skipped
 */
export function pageOfMarkedSql(list: MarkedList, facet: MarkedFacet, rowsOf: RowsAt, limit: string): string {
  const ofList = `company_id = ${markedCompany} AND list = '${list}' AND ${isAsked[facet]} AND ${mayMatch}`;
  const { level, around, isParted, address } = walkSql(list, facet);
  const [top, high] = ['$7::int', '$6::bigint'];
  return `
    WITH RECURSIVE pending AS MATERIALIZED (
      SELECT coalesce(array_agg(DISTINCT place ORDER BY place), '{}') AS places FROM (
        SELECT ${address} AS place FROM list_changes WHERE ${ofList}) AS changes
      WHERE place >= (SELECT $5::bigint) AND place < (SELECT $6::bigint)),
    walk (level, place, until, found, size) AS (
      SELECT ${top}, $5::bigint, ${high}, NULL::bigint, 0
      UNION ALL
      SELECT CASE WHEN stop IS NULL THEN level + 1 WHEN is_read THEN level ELSE level - 1 END,
        CASE WHEN stop IS NULL THEN until WHEN is_read THEN (stop + 1) << size ELSE greatest(place, stop << size) END,
        CASE WHEN stop IS NULL THEN CASE WHEN level + 1 < ${top} THEN least(${high}, ${around}) ELSE ${high} END
          WHEN is_read THEN until ELSE least(until, (stop + 1) << size) END,
        CASE WHEN is_read THEN stop << size END, size
      FROM (
        SELECT w.*, stop IS NOT NULL AND shift <= 0 AND NOT coalesce(${isParted}, false) AS is_read
        FROM (
          SELECT w.level, w.place, w.until, s.shift, s.size, s.base, least(
            (SELECT bucket - s.base FROM list_counts WHERE shift = s.shift
               AND bucket BETWEEN (w.place >> s.size) + s.base AND ((w.until - 1) >> s.size) + s.base AND ${ofList}
             ORDER BY bucket LIMIT 1),
            CASE WHEN n.place < w.until THEN n.place >> s.size END) AS stop
          FROM walk w
          ${level}
          CROSS JOIN LATERAL (
            SELECT p.places[width_bucket(w.place - 1, p.places) + 1] AS place FROM pending p OFFSET 0) AS n
          OFFSET 0) AS w
        WHERE stop IS NOT NULL OR until < ${high} OFFSET 0) AS w)
    SELECT r.* FROM walk w CROSS JOIN LATERAL (${rowsOf('w.found', 'w.size')} OFFSET 0) AS r
    WHERE w.found IS NOT NULL ${limit}`;
}

/** SQL of rows from an address on, in a stretch or part whose size in addresses is a power of two. */
export type RowsAt = (address: string, size: string) => string;
