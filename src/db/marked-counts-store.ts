import type { Database } from '../contract/transaction.ts';
import type { Found } from './list-counts-store.ts';
import {
  isAsked,
  type MarkedFacet,
  type MarkedList,
  type MarkedRows,
  markedCompany,
  markedFacet,
  markedSpan,
  markValuesOf,
  mayMatch,
  type RowsAt,
  walkSql,
} from './list-marks-store.ts';
import { prepared } from './prepared.ts';

/*
 * Finds the row at an offset of what a moment narrows, by the counters of the stretches in which all rows match
 * (migration 0047). Where only some do, it reads them.
 */

/** A statement of `walkOfMarkedSql`. */
export type MarkedWalk = { readonly name: string; readonly sql: string };

const isWithin = `earliest >= ${markedSpan.from} AND latest < ${markedSpan.until}`;

// Events without a start are beside the marks, and counted as `-` once more.
const counters = {
  nfts: (facet: MarkedFacet) => ({
    ...{ which: isAsked[facet], mayMatch, count: 'sum(count)' },
    isWhole: `bool_and(coalesce(${isWithin}, false))`,
  }),
  events: () => ({
    ...{ which: `(facet ${markedFacet.one} OR facet = '-')`, mayMatch: `(facet = '-' OR ${mayMatch})` },
    count:
      "CASE WHEN bool_or(facet = '') THEN sum(CASE facet WHEN '-' THEN -count ELSE count END) ELSE 0 END",
    isWhole: `bool_and(coalesce(facet = '-' OR ${isWithin}, false))`,
  }),
} as const;

// The first stretch from the place on that the walk cannot pass over at once, or the last one: what is not folded yet, what
// is not in the walk as a whole, and what leads beyond the offset has to be looked into.
const stretchSql = (list: MarkedList, facet: MarkedFacet) => {
  const of = counters[list](facet);
  const hasPending = `coalesce(p.places[width_bucket(greatest(w.place, (bucket - s.base) << s.size) - 1, p.places) + 1]
    < (bucket - s.base + 1) << s.size, false)`;
  return `
    SELECT bucket - s.base AS bucket, is_whole, matches, passed, n FROM (
      SELECT bucket, is_whole AND passed + n <= w.remaining AS is_whole, CASE WHEN is_whole THEN n END AS matches, passed, n,
        lead(bucket) OVER (ORDER BY bucket) IS NULL AS is_last
      FROM (
        SELECT bucket, n, is_whole, sum(n) OVER (ORDER BY bucket) - n AS passed FROM (
          SELECT bucket, ${of.count} AS n, ${of.isWhole} AND (bucket - s.base) << s.size >= w.place
            AND (bucket - s.base + 1) << s.size <= w.until AND NOT ${hasPending} AS is_whole
          FROM list_counts, pending p
          WHERE company_id = ${markedCompany} AND list = '${list}' AND ${of.which} AND ${of.mayMatch}
            AND shift = s.shift AND bucket BETWEEN (w.place >> s.size) + s.base
              AND least(m.bucket, (w.until - 1) >> s.size) + s.base
          GROUP BY bucket, p.places) AS grouped) AS summed) AS found
    WHERE NOT is_whole OR is_last ORDER BY found.bucket LIMIT 1`;
};

/**
 * SQL of a walk along the stretches where a row may match: it passes over those that match as a whole, the widest first, and
 * reads the smallest of the others, or of their parts. Begins with the values of `markValuesOf`, behind them an offset.
 * @param countIn SQL of how many rows match from an address on, in a stretch or part of some size
 */
export function walkOfMarkedSql(list: MarkedList, facet: MarkedFacet, countIn: RowsAt): string {
  const of = counters[list](facet);
  const { level, around, isParted, address } = walkSql(list, facet);
  const [top, high] = ['$7::int', '$6::bigint'];
  return `
    WITH RECURSIVE pending AS MATERIALIZED (
      SELECT coalesce(array_agg(DISTINCT place ORDER BY place), '{}') AS places,
        coalesce(array_agg(DISTINCT place ORDER BY place) FILTER (WHERE facet <> '-' AND ${mayMatch}), '{}') AS matching
      FROM (
        SELECT ${address} AS place, facet, latest, earliest FROM list_changes
        WHERE company_id = ${markedCompany} AND list = '${list}' AND ${of.which}) AS changes
      WHERE place >= (SELECT $5::bigint) AND place < (SELECT $6::bigint)),
    walk (level, place, until, remaining, found) AS (
      SELECT ${top}, $5::bigint, ${high}, $8::bigint, NULL::bigint
      UNION ALL
      SELECT CASE WHEN stop IS NULL THEN level + 1 WHEN is_read THEN level ELSE level - 1 END,
        CASE WHEN stop IS NULL THEN until WHEN is_read THEN (stop + 1) << size ELSE greatest(place, stop << size) END,
        CASE WHEN stop IS NULL THEN CASE WHEN level + 1 < ${top} THEN least(${high}, ${around}) ELSE ${high} END
          WHEN is_read THEN until ELSE least(until, (stop + 1) << size) END,
        CASE WHEN matches <= remaining THEN remaining - matches ELSE remaining END,
        CASE WHEN matches > remaining THEN stop << size END
      FROM (
        SELECT w.*, CASE WHEN is_read THEN coalesce(known, (${countIn('(w.stop << w.size)', 'w.size')})) END AS matches
        FROM (
          SELECT w.*, stop IS NOT NULL AND shift <= 0 AND NOT coalesce(${isParted}, false) AS is_read
          FROM (
            SELECT w.level, w.place, w.until, s.shift, s.size, s.base,
              w.remaining - coalesce(CASE WHEN f.is_whole THEN f.passed + f.n ELSE f.passed END, 0)::bigint AS remaining,
              CASE WHEN NOT f.is_whole THEN f.matches::bigint END AS known,
              CASE WHEN f.is_whole OR f.bucket IS NULL THEN m.bucket ELSE f.bucket END AS stop
            FROM walk w
            ${level}
            CROSS JOIN LATERAL (
              SELECT CASE WHEN n.place < w.until THEN n.place >> s.size END AS bucket FROM (
                SELECT p.matching[width_bucket(w.place - 1, p.matching) + 1] AS place FROM pending p) AS n OFFSET 0) AS m
            LEFT JOIN LATERAL (${stretchSql(list, facet)}) AS f ON true
            WHERE w.found IS NULL AND w.place < ${high}
            OFFSET 0) AS w OFFSET 0) AS w OFFSET 0) AS w)
    SELECT max(found) AS place, min(remaining) AS remaining FROM walk`;
}

/** An offset up to which a page reads what it skips sooner than a walk finds its beginning. */
export const fewSkipped = 200;

/** Finds the row that an offset leads to, `place` being an address. @returns undefined when there are no more rows than the offset */
export async function findMarked(
  db: Database,
  { name, sql }: MarkedWalk,
  rows: MarkedRows,
  offset: number,
): Promise<Found | undefined> {
  type Walked = { readonly place: string | null; readonly remaining: string };
  const found = await prepared<Walked>(db, name, sql, [...markValuesOf(rows), String(offset)]);
  const [row] = found.rows;
  if (row === undefined) throw new Error(`${name} gave no row.`);
  return row.place === null ? undefined : { place: BigInt(row.place), skipped: Number(row.remaining) };
}
