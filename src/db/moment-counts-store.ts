import type { Database } from '../contract/transaction.ts';
import type { CountedRows } from './list-counts-store.ts';
import { type ListName, manyRows, momentBits } from './list-levels.ts';
import { ownListSql } from './own-lists.ts';
import { prepared } from './prepared.ts';

/*
 * Counts what is before a moment in the stretch of it, by the parts of the stretch where it has many rows (migration 0051).
 */

/** A statement of `countBeforeSql`. */
export type MomentCount = { readonly name: string; readonly sql: string };

/** SQL of the company that asks, and of the facets that count. */
export const countedCompany = '(SELECT $1::text)';
export const countedFacets = '((SELECT $2::text[])::text[])';
const at = '(SELECT $3::bigint)';
/** SQL of the RWA whose own list it is, where it is one. */
export const countedRwa = '(SELECT $4::bigint)';

const { rest, width } = momentBits;
const lastWithin = (1 << rest) - 1;

/**
 * SQL of how many rows of a list by time are before a moment in its smallest stretch: it goes down to the smallest part with the
 * moment, past those before it, and reads the rows of that one. Parts that do not have all rows are not used. Begins with a
 * company, facets and the microseconds of the moment; one plan serves all, as the server does not look into what is selected.
 * @param list of a company, or `own` for those of RWAs that are counted by the time of their changes
 * @param countIn SQL of how many rows there are from a moment up to another one, both in microseconds
 */
export function countBeforeSql(
  list: ListName | 'own',
  countIn: (from: string, until: string) => string,
): string {
  const of = (table: string, named: string) =>
    `${table} WHERE company_id = ${countedCompany} AND list = ${named} AND facet = ANY ${countedFacets}`;
  const counters = of('list_counts', list === 'own' ? ownListSql(countedRwa) : `'${list}'`);
  const changes =
    list === 'own'
      ? `${of('list_changes', "'nft_changes'")} AND rwa_number = ${countedRwa}`
      : of('list_changes', `'${list}'`);
  return `
    WITH RECURSIVE walk (shift, before, n) AS (
      SELECT 0, 0::numeric, (SELECT sum(count) FROM ${counters} AND shift = 0 AND bucket = ${at} >> ${rest})
      UNION ALL
      SELECT w.shift - ${width}, w.before + p.before, p.n
      FROM walk w CROSS JOIN LATERAL (
        SELECT sum(count) AS of_all, coalesce(sum(count) FILTER (WHERE bucket < own), 0) AS before,
          coalesce(sum(count) FILTER (WHERE bucket = own), 0) AS n
        FROM (
          SELECT bucket, count, ${at} >> (${rest - width} + w.shift) AS own FROM ${counters}
            AND shift = w.shift - ${width}
            AND bucket BETWEEN (${at} >> (${rest} + w.shift)) << ${width}
              AND ((${at} >> (${rest} + w.shift)) << ${width}) + ${(1 << width) - 1}) AS parts) AS p
      WHERE w.shift > -${rest} AND w.n > ${manyRows} AND p.of_all = w.n),
    part AS MATERIALIZED (
      SELECT shift, before, (${at} >> (${rest} + shift)) << (${rest} + shift) AS start
      FROM walk ORDER BY shift LIMIT 1)
    SELECT before + (${countIn('part.start', at)})
      + CASE WHEN shift < 0 THEN (SELECT coalesce(sum(change), 0) FROM ${changes}
          AND place = ${at} >> ${rest} AND rest < (part.start & ${lastWithin})) ELSE 0 END AS count
    FROM part`;
}

/** Counts the rows before a moment in the smallest stretch with it. */
export async function countBefore(
  db: Database,
  { name, sql }: MomentCount,
  { companyId, facets, rwaNumber }: Pick<CountedRows, 'companyId' | 'facets' | 'rwaNumber'>,
  micros: bigint,
): Promise<number> {
  const owner = rwaNumber === undefined ? [] : [String(rwaNumber)];
  const values = [companyId, facets, String(micros), ...owner];
  const { rows } = await prepared<{ count: string }>(db, name, sql, values);
  return Number(rows[0]?.count ?? 0);
}
