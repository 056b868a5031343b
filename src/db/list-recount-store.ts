import type { Database } from '../contract/transaction.ts';
import { foldLock, shiftsOf } from './list-counts-store.ts';

/*
 * Counts lists anew from their rows, where counters may have missed some: a restore of data without triggers, or with them
 * over counters that were restored too. What counts is the same as in the triggers (migrations 0039 and 0041).
 */

export type CountedList = keyof typeof shiftsOf;

/** Every list with counters. */
export const countedLists = ['nfts', 'nft_changes', 'rwas', 'events', 'event_starts'] as const;

const micros = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;
const time = (moment: string) => `(${micros(moment)} >> 24)`;

const placed = (table: string, place: string, facets: readonly string[], condition = 'true') => `
  SELECT company_id, ${place} AS place, f.facet FROM ${table}
  CROSS JOIN LATERAL (VALUES ${facets.map((facet) => `(${facet})`).join()}) AS f (facet) WHERE ${condition}`;

const flags = "CASE WHEN archived_at IS NULL THEN '' ELSE 'a' END, is_buyable::int, is_claimable::int";

/** What each row of a list counts for: company, place, and facets. */
const rowsOf: Readonly<Record<CountedList, string>> = {
  nfts: placed('nfts', '(rwa_number << 32) + least(serial >> 8, 4294967295)', ['mint_state']),
  nft_changes: placed('nfts', time('updated_at'), ['mint_state']),
  rwas: placed('rwas', `${micros('created_at')} >> 16`, [`concat(${flags})`, `concat(${flags}, ':', type)`]),
  events: placed('events', `1099511627775 - ${time('created_at')}`, ["''"]),
  event_starts: placed('events', time('start_date'), ["''"], 'start_date IS NOT NULL'),
};

const shifts = (list: CountedList) => `unnest('{${shiftsOf[list].join()}}'::smallint[]) AS s (shift)`;

// One statement, so one snapshot: what is appended and not folded yet is taken off what the counters should say.
const compareSql = (list: CountedList) => `
  WITH leaves AS (
    SELECT company_id, place, facet, sum(n) AS n FROM (
      SELECT company_id, place, facet, 1 AS n FROM (${rowsOf[list]}) AS rows
      UNION ALL SELECT company_id, place, facet, -change FROM list_count_changes WHERE list = :list) AS all_rows
    GROUP BY company_id, place, facet HAVING sum(n) <> 0),
  wanted AS (
    SELECT company_id, shift, place >> shift AS bucket, facet, sum(n) AS count FROM leaves, ${shifts(list)}
    GROUP BY company_id, shift, place >> shift, facet HAVING sum(n) <> 0),
  counted AS (SELECT company_id, shift, bucket, facet, count FROM list_counts WHERE list = :list)
  SELECT company_id AS "companyId", count(*)::int AS counters
  FROM wanted w FULL JOIN counted c USING (company_id, shift, bucket, facet)
  WHERE w.count IS DISTINCT FROM c.count GROUP BY company_id ORDER BY company_id`;

const recountSql = (list: CountedList) => `
  WITH seen AS (DELETE FROM list_count_changes WHERE list = :list),
  leaves AS (SELECT company_id, place, facet, count(*) FROM (${rowsOf[list]}) AS rows GROUP BY company_id, place, facet)
  INSERT INTO list_counts (company_id, list, shift, bucket, facet, count)
  SELECT company_id, :list, shift, place >> shift, facet, sum(count) FROM leaves, ${shifts(list)}
  GROUP BY company_id, shift, place >> shift, facet`;

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
