import type { Database } from '../contract/transaction.ts';
import { foldLock, wantSplitsSql } from './list-folds-store.ts';
import { appendedListSql, type ListName, stretchesSql } from './list-levels.ts';
import { countedRowsSql, never } from './listed-rows.ts';
import { ownRowsSql, rwaStretch } from './own-lists.ts';
import { byStatement } from './transaction.ts';

/*
 * Counts lists anew from their rows, where counters may have missed some: a restore of data without triggers, or with them
 * over counters that were restored too.
 */

// One statement, so one snapshot: what is appended and not folded yet is taken off what the counters should say, and marks
// beside them. A mark beyond its rows is one that rows had before.
const compareSql = (list: ListName) => `
  WITH counted_rows AS (
    SELECT '${list}' AS list, company_id, rwa_number, place, rest, facet, 1 AS n, latest, earliest,
      NULL::bigint AS later, NULL::bigint AS sooner
    FROM (${countedRowsSql[list]}) AS rows
    UNION ALL
    SELECT list, company_id, rwa_number, place, rest, facet, -change, NULL, NULL,
      coalesce(latest, ${never}), coalesce(earliest, -${never})
    FROM list_changes WHERE list = '${list}'),
  all_rows AS (
    SELECT * FROM counted_rows
    ${list === 'nft_changes' ? `UNION ALL ${ownRowsSql('counted_rows')}` : ''}),
  leaves AS (
    SELECT list, company_id, place, rest, facet, sum(n) AS n, max(latest) AS latest, min(earliest) AS earliest,
      max(later) AS later, min(sooner) AS sooner
    FROM all_rows GROUP BY list, company_id, place, rest, facet),
  wanted AS (
    SELECT list, company_id, shift, bucket, facet, sum(n) AS count, max(latest) AS latest,
      min(earliest) AS earliest, max(later) AS later, min(sooner) AS sooner
    FROM leaves l CROSS JOIN LATERAL ${stretchesSql(list, 'l', 'l.list')} AS s (shift, bucket)
    GROUP BY list, company_id, shift, bucket, facet),
  counted AS (SELECT list, company_id, shift, bucket, facet, count, latest, earliest, true AS is_kept
    FROM list_counts WHERE ${appendedListSql('list')} = '${list}')
  SELECT company_id AS "companyId", count(*)::int AS counters
  FROM wanted w FULL JOIN counted c USING (list, company_id, shift, bucket, facet)
  WHERE coalesce(w.count, 0) <> coalesce(c.count, 0)
    OR (c.latest < w.latest OR is_kept IS NULL) AND coalesce(later < w.latest, true) AND w.latest IS NOT NULL
    OR (c.earliest > w.earliest OR is_kept IS NULL) AND coalesce(sooner > w.earliest, true) AND w.earliest IS NOT NULL
  GROUP BY company_id ORDER BY company_id`;

const recountSql = (list: ListName) => `
  WITH seen AS (DELETE FROM list_changes WHERE list = :list),
  leaves AS (
    SELECT company_id, place, NULL::bigint AS rest, facet, count(*), max(latest) AS latest, min(earliest) AS earliest
    FROM (${countedRowsSql[list]}) AS rows GROUP BY company_id, place, facet)
  INSERT INTO list_counts (company_id, list, shift, bucket, facet, count, latest, earliest)
  SELECT company_id, :list, shift, bucket, facet, sum(count), max(latest), min(earliest)
  FROM leaves l CROSS JOIN LATERAL ${stretchesSql(list, 'l')} AS s (shift, bucket)
  GROUP BY company_id, shift, bucket, facet ORDER BY company_id, shift, bucket, facet`;

/** Counters of a list of a company that are not what its rows are. */
export type WrongCounters = {
  readonly list: ListName;
  readonly companyId: string;
  readonly counters: number;
};

/** Compares the counters of a list with its rows; writers go on meanwhile. */
export async function findWrongCounters(db: Database, list: ListName): Promise<WrongCounters[]> {
  const { rows } = await byStatement(db, (from) =>
    from.raw<{ rows: Omit<WrongCounters, 'list'>[] }>(compareSql(list)),
  );
  return rows.map((row) => ({ list, ...row }));
}

/**
 * Counts a list anew, in the transaction of the caller; writers go on, and who folds waits for it. What has many rows is parted
 * by who folds next, who also counts the own lists of RWAs anew.
 */
export async function recount(tx: Database, list: ListName): Promise<void> {
  await tx.raw(`SELECT pg_advisory_xact_lock(${foldLock})`);
  const isOfNfts = list === 'nfts' || list === 'nft_changes';
  if (isOfNfts) await dropOwnLists(tx);
  await tx('list_splits').where({ list }).delete();
  await tx('list_counts').where({ list }).delete();
  await tx.raw(recountSql(list), { list });
  const counted = isOfNfts ? ['nfts', 'nft_changes'] : [list];
  await tx.raw(wantSplitsSql('(SELECT * FROM list_counts WHERE list = ANY (:counted))'), { counted });
}

/** Their changes may be taken as those of the list of the company. */
async function dropOwnLists(tx: Database): Promise<void> {
  for (const table of ['list_splits', 'list_counts'])
    await tx(table).whereLike('list', 'nft_changes/%').delete();
  await tx('list_splits').where(rwaStretch).delete();
}
