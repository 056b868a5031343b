import type { Database } from '../contract/transaction.ts';
import {
  appendedListSql,
  type ListName,
  listNames,
  manyRows,
  partLevelsOf,
  stretchesSql,
  stretchOfSql,
} from './list-levels.ts';
import { manyOfRwa, ownerOfSql, ownTakenSql, rwaStretch } from './own-lists.ts';
import { inTransaction } from './transaction.ts';

/*
 * Folds what writers append into the counters of lists.
 */

/** SQL of the number of the advisory lock of whoever writes counters. */
export const foldLock = "hashtext('tallystick list counts')";

// What one transaction folds.
export const foldSize = 5_000;

// A mark that is unknown stays so.
const foldedMark = (mark: string, reach: string) =>
  `CASE WHEN count(*) = count(${mark}) THEN ${reach}(${mark}) END AS ${mark}`;

const takenSql = (list: ListName) => `
  SELECT t.company_id, t.list, t.facet, t.change, t.latest, t.earliest, s.shift, s.bucket
  FROM taken t CROSS JOIN LATERAL ${stretchesSql(list, 't')} AS s (shift, bucket)
  WHERE t.list = '${list}'`;

const parents = listNames.flatMap((list) => partLevelsOf(list).map(({ of }) => `('${list}', ${of})`));

/** SQL that notes which of some counters are of a stretch that is to be counted by its parts, or of an RWA that is to have its list. */
export const wantSplitsSql = (counters: string) => `
  INSERT INTO list_splits (company_id, list, shift, bucket)
  SELECT DISTINCT company_id, list, shift, bucket FROM ${counters} AS counters
  WHERE count > ${manyRows} AND (${appendedListSql('list')}, shift) IN (${parents.join()})
    OR count > ${manyOfRwa} AND (list, shift) = ('${rwaStretch.list}', ${rwaStretch.shift})
  ON CONFLICT DO NOTHING`;

// Nobody else takes changes while the advisory lock is held; to lock their rows as well, the users of the roles have no right. In
// order: a walk reads neighbours.
const foldSql = `
  WITH taken AS (
    DELETE FROM list_changes WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM list_changes LIMIT :limit))
    RETURNING company_id, list, place, rest, facet, change, latest, earliest, rwa_number),
  stretches AS (${[...listNames.map(takenSql), ownTakenSql('taken')].join(' UNION ALL ')}),
  folded AS (
    INSERT INTO list_counts AS c (company_id, list, shift, bucket, facet, count, latest, earliest)
    SELECT company_id, list, shift, bucket, facet, sum(change), ${foldedMark('latest', 'max')},
      ${foldedMark('earliest', 'min')}
    FROM stretches GROUP BY company_id, list, shift, bucket, facet
    ORDER BY company_id, list, shift, bucket, facet
    ON CONFLICT (company_id, list, shift, bucket, facet) DO UPDATE SET count = c.count + excluded.count,
      latest = CASE WHEN c.latest IS NOT NULL AND excluded.latest IS NOT NULL
        THEN greatest(c.latest, excluded.latest) END,
      earliest = CASE WHEN c.earliest IS NOT NULL AND excluded.earliest IS NOT NULL
        THEN least(c.earliest, excluded.earliest) END
    RETURNING company_id, list, shift, bucket, facet, count),
  crowded AS (${wantSplitsSql('folded')})
  SELECT (SELECT count(*) FROM taken) AS taken,
    (SELECT jsonb_agg(to_jsonb(folded) - 'count') FROM folded WHERE count = 0) AS empty`;

// What was taken may be the end of a row whose beginning is still to come: then others are left, of which this has the
// mark. Each counter is looked up, and looks by a range of the index (migration 0060), which the OFFSETs keep: the server takes
// counters of 0 for none, and would hold all there are against all that is left of the company.
const dropEmptySql = `
  DELETE FROM list_counts WHERE ctid = ANY (ARRAY (
    SELECT c.ctid FROM (
      SELECT e.*, ${appendedListSql('e.list')} AS appended, ${ownerOfSql('e.list')} AS owner,
        (${stretchOfSql('e')}) << greatest(e.shift, 0) AS place, (1::bigint << greatest(e.shift, 0)) - 1 AS width
      FROM jsonb_to_recordset(?::jsonb) AS e (company_id text, list text, shift smallint, bucket bigint, facet text) OFFSET 0) e
    CROSS JOIN LATERAL (
      SELECT ctid FROM list_counts c WHERE c.company_id = e.company_id AND c.list = e.list AND c.shift = e.shift
        AND c.bucket = e.bucket AND c.facet = e.facet AND c.count = 0 OFFSET 0) c
    WHERE NOT EXISTS (SELECT FROM list_changes p WHERE p.company_id = e.company_id AND p.list = e.appended AND p.facet = e.facet
      AND p.place BETWEEN e.place AND e.place + e.width AND coalesce(p.rwa_number = e.owner, true) OFFSET 0)))`;

/**
 * Folds changes into the counters, at most `limit` of them. One process at a time: two would wait for each other's
 * counters, in either order.
 * @returns how many; 0 while another one is about it
 */
export function foldCounts(db: Database, limit = foldSize): Promise<number> {
  return inTransaction(db, async (tx) => {
    const lock = await tx.raw(`SELECT pg_try_advisory_xact_lock(${foldLock}) AS is_ours`);
    if (lock.rows[0]?.is_ours !== true) return 0;
    const { rows }: { rows: { taken: string; empty: object[] | null }[] } = await tx.raw(foldSql, {
      limit,
    });
    const [done] = rows;
    if (done?.empty) await tx.raw(dropEmptySql, [JSON.stringify(done.empty)]);
    return Number(done?.taken ?? 0);
  });
}
