import type { Database } from '../contract/transaction.ts';
import { foldLock, shiftsOf } from './list-counts-store.ts';

/*
 * Counts lists anew from their rows, where counters may have missed some: a restore of data without triggers, or with them
 * over counters that were restored too. What counts is the same as in the triggers (migrations 0039, 0041 and 0047).
 */

export type CountedList = keyof typeof shiftsOf;

/** Every list with counters. */
export const countedLists = ['nfts', 'nft_changes', 'rwas', 'events', 'event_starts'] as const;

const micros = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;
const time = (moment: string) => `(${micros(moment)} >> 24)`;

type Rows = {
  readonly table: string;
  readonly place: string;
  /** What a row counts for, each once. */
  readonly facets: readonly string[];
  readonly condition?: string;
  /** The moment that stretches are marked with, or null where they are not. */
  readonly moment?: string;
};

// An event without a start is at no time: earlier and later than any moment that is asked for.
const never = 1n << 62n;

const placed = ({ table, place, facets, condition = 'true', moment }: Rows) => `
  SELECT company_id, ${place} AS place, f.facet,
    ${moment ? `coalesce(${micros(moment)}, -${never})` : 'NULL::bigint'} AS latest,
    ${moment ? `coalesce(${micros(moment)}, ${never})` : 'NULL::bigint'} AS earliest
  FROM ${table} CROSS JOIN LATERAL (VALUES ${facets.map((facet) => `(${facet})`).join()}) AS f (facet)
  WHERE ${condition}`;

const flags = "CASE WHEN archived_at IS NULL THEN '' ELSE 'a' END, is_buyable::int, is_claimable::int";

const events = { table: 'events', place: `1099511627775 - ${time('created_at')}` };

/** What each row of a list counts for: company, place, and facets; and the marks that it needs. */
const rowsOf: Readonly<Record<CountedList, string>> = {
  nfts: placed({
    ...{ table: 'nfts', place: '(rwa_number << 32) + least(serial >> 8, 4294967295)' },
    ...{ facets: ['mint_state'], moment: 'updated_at' },
  }),
  nft_changes: placed({ table: 'nfts', place: time('updated_at'), facets: ['mint_state'] }),
  rwas: placed({
    ...{ table: 'rwas', place: `${micros('created_at')} >> 16` },
    facets: [`concat(${flags})`, `concat(${flags}, ':', type)`],
  }),
  events: `${placed({ ...events, facets: ["''"], moment: 'start_date' })}
    UNION ALL ${placed({ ...events, facets: ["'-'"], condition: 'start_date IS NULL' })}`,
  event_starts: placed({
    ...{ table: 'events', place: time('start_date'), facets: ["''"] },
    condition: 'start_date IS NOT NULL',
  }),
};

const shifts = (list: CountedList) => `unnest('{${shiftsOf[list].join()}}'::smallint[]) AS s (shift)`;

// One statement, so one snapshot: what is appended and not folded yet is taken off what the counters should say, and marks
// beside them. A mark beyond its rows is one that rows had before.
const compareSql = (list: CountedList) => `
  WITH leaves AS (
    SELECT company_id, place, facet, sum(n) AS n, max(latest) AS latest, min(earliest) AS earliest,
      max(later) AS later, min(sooner) AS sooner
    FROM (
      SELECT company_id, place, facet, 1 AS n, latest, earliest, NULL::bigint AS later, NULL::bigint AS sooner
      FROM (${rowsOf[list]}) AS rows
      UNION ALL
      SELECT company_id, place, facet, -change, NULL, NULL, coalesce(latest, ${never}), coalesce(earliest, -${never})
      FROM list_changes WHERE list = :list) AS all_rows
    GROUP BY company_id, place, facet),
  wanted AS (
    SELECT company_id, shift, place >> shift AS bucket, facet, sum(n) AS count, max(latest) AS latest,
      min(earliest) AS earliest, max(later) AS later, min(sooner) AS sooner
    FROM leaves, ${shifts(list)} GROUP BY company_id, shift, place >> shift, facet),
  counted AS (SELECT company_id, shift, bucket, facet, count, latest, earliest, true AS is_kept
    FROM list_counts WHERE list = :list)
  SELECT company_id AS "companyId", count(*)::int AS counters
  FROM wanted w FULL JOIN counted c USING (company_id, shift, bucket, facet)
  WHERE coalesce(w.count, 0) <> coalesce(c.count, 0)
    OR (c.latest < w.latest OR is_kept IS NULL) AND coalesce(later < w.latest, true) AND w.latest IS NOT NULL
    OR (c.earliest > w.earliest OR is_kept IS NULL) AND coalesce(sooner > w.earliest, true) AND w.earliest IS NOT NULL
  GROUP BY company_id ORDER BY company_id`;

const recountSql = (list: CountedList) => `
  WITH seen AS (DELETE FROM list_changes WHERE list = :list),
  leaves AS (
    SELECT company_id, place, facet, count(*), max(latest) AS latest, min(earliest) AS earliest
    FROM (${rowsOf[list]}) AS rows GROUP BY company_id, place, facet)
  INSERT INTO list_counts (company_id, list, shift, bucket, facet, count, latest, earliest)
  SELECT company_id, :list, shift, place >> shift, facet, sum(count), max(latest), min(earliest)
  FROM leaves, ${shifts(list)} GROUP BY company_id, shift, place >> shift, facet
  ORDER BY company_id, shift, place >> shift, facet`;

/** Counters of a list of a company that are not what its rows are. */
export type WrongCounters = {
  readonly list: CountedList;
  readonly companyId: string;
  readonly counters: number;
};

/** Compares the counters of a list with its rows; writers go on meanwhile. */
export async function findWrongCounters(db: Database, list: CountedList): Promise<WrongCounters[]> {
  const { rows } = await db.raw<{ rows: Omit<WrongCounters, 'list'>[] }>(compareSql(list), { list });
  return rows.map((row) => ({ list, ...row }));
}

/** Counts a list anew, in the transaction of the caller; writers go on, and who folds waits for it. */
export async function recount(tx: Database, list: CountedList): Promise<void> {
  await tx.raw(`SELECT pg_advisory_xact_lock(${foldLock})`);
  await tx('list_counts').where({ list }).delete();
  await tx.raw(recountSql(list), { list });
}
