import type { Database, Tx } from '../contract/transaction.ts';
import { foldCounts, foldLock, foldSize, wantSplitsSql } from './list-folds-store.ts';
import { bucketSql, type ListName, momentsOf, partLevelsOf } from './list-levels.ts';
import { countedRowsSql } from './listed-rows.ts';
import { momentOf } from './moment-sql.ts';
import { inTransaction } from './transaction.ts';

/*
 * Counts the stretches that have many rows by their parts, too (migrations 0050 and 0051).
 */

type Split = {
  readonly company_id: string;
  readonly list: ListName;
  readonly shift: number;
  readonly bucket: string;
};

// One statement, so one snapshot: what is appended and not folded yet is taken off what the parts count.
const splitSql = ({ list, shift }: Split) => {
  const part = partLevelsOf(list).find(({ of }) => of === shift)?.shift;
  if (part === undefined) throw new Error(`No part of ${list} at ${shift} is parted.`);
  return `
  WITH stretch AS (
    SELECT ${bucketSql(list, part)} AS part, facet, 1 AS n, latest, earliest FROM (${countedRowsSql[list]}) AS rows
    WHERE company_id = :company AND at >= ${momentOf(':earliest::bigint')} AND at <= ${momentOf(':latest::bigint')}
      AND ${bucketSql(list, shift)} = :bucket
    UNION ALL
    SELECT ${bucketSql(list, part)}, facet, -change, NULL, NULL FROM list_changes
    WHERE company_id = :company AND list = :list AND ${bucketSql(list, shift)} = :bucket AND rest IS NOT NULL),
  parts AS (
    INSERT INTO list_counts (company_id, list, shift, bucket, facet, count, latest, earliest)
    SELECT :company, :list, ${part}, part, facet, sum(n), max(latest), min(earliest) FROM stretch
    GROUP BY part, facet HAVING sum(n) <> 0 ORDER BY part, facet
    RETURNING company_id, list, shift, bucket, count)
  ${wantSplitsSql('parts')}`;
};

async function split(tx: Tx, stretch: Split): Promise<void> {
  const { company_id, list, shift, bucket } = stretch;
  const { earliest, latest } = momentsOf(list, shift, BigInt(bucket));
  const names = { company: company_id, list, bucket, earliest: String(earliest), latest: String(latest) };
  await tx.raw(splitSql(stretch), names);
  await tx('list_splits').where({ company_id, list, shift, bucket }).update({ is_counted: true });
}

/**
 * Counts some of the stretches that are to be parted by their parts. One process at a time, and nobody folds meanwhile.
 * @returns how many, at most `limit`; 0 while another one is about it
 */
export function splitCrowded(db: Database, limit: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const lock = await tx.raw(`SELECT pg_try_advisory_xact_lock(${foldLock}) AS is_ours`);
    if (lock.rows[0]?.is_ours !== true) return 0;
    const wanted: Split[] = await tx('list_splits').where({ is_counted: false }).limit(limit);
    for (const each of wanted) await split(tx, each);
    return wanted.length;
  });
}

// Stretches of one transaction: each may take a second.
const splitSize = 1;

/**
 * Folds what is appended, and parts what has many rows since, until little is left to do.
 * @param signal ends it after a transaction
 */
export async function settleCounts(db: Database, signal?: AbortSignal): Promise<void> {
  const mayGoOn = () => signal?.aborted !== true;
  while (mayGoOn() && (await foldCounts(db)) === foldSize);
  while (mayGoOn() && (await splitCrowded(db, splitSize)) > 0);
}

/** Whether there is anything to settle. */
export async function hasUnsettled(db: Database): Promise<boolean> {
  const { rows }: { rows: { found: boolean }[] } = await db.raw(`
    SELECT EXISTS (SELECT FROM list_changes) OR EXISTS (SELECT FROM list_splits WHERE NOT is_counted) AS found`);
  return rows[0]?.found === true;
}
