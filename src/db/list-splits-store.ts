import type { Database, Tx } from '../contract/transaction.ts';
import { foldCounts, foldLock, foldSize, wantSplitsSql } from './list-folds-store.ts';
import { bucketSql, type ListName, listNames, momentsOf, partLevelsOf, stretchesSql } from './list-levels.ts';
import { countedRowsSql } from './listed-rows.ts';
import { momentOf } from './moment-sql.ts';
import { ownListSql, rwaStretch } from './own-lists.ts';
import { inTransaction } from './transaction.ts';

/*
 * Counts the stretches that have many rows by their parts, too (migrations 0050 and 0051), and RWAs with many NFTs in lists of
 * their own (migration 0054).
 */

type Split = {
  readonly company_id: string;
  /** Of a company, or an RWA's own one. */
  readonly list: string;
  readonly shift: number;
  readonly bucket: string;
};

/** The list that writers append to, and the RWA whose own list it is. */
function partsOfName(list: string): { readonly base: ListName; readonly owner: string | null } {
  const [name, owner = null] = list.split('/');
  const base = listNames.find((each) => each === name);
  if (base === undefined) throw new Error(`There is no list ${list}.`);
  return { base, owner };
}

// One statement, so one snapshot: what is appended and not folded yet is taken off what the parts count.
const partsSql = (list: ListName, shift: number) => {
  const part = partLevelsOf(list).find(({ of }) => of === shift)?.shift;
  if (part === undefined) throw new Error(`No part of ${list} at ${shift} is parted.`);
  const ofOwner = '(:owner::bigint IS NULL OR rwa_number = :owner)';
  return `
  WITH stretch AS (
    SELECT ${bucketSql(list, part)} AS part, facet, 1 AS n, latest, earliest FROM (${countedRowsSql[list]}) AS rows
    WHERE company_id = :company AND at >= ${momentOf(':earliest::bigint')} AND at <= ${momentOf(':latest::bigint')}
      AND ${bucketSql(list, shift)} = :bucket AND ${ofOwner}
    UNION ALL
    SELECT ${bucketSql(list, part)}, facet, -change, NULL, NULL FROM list_changes
    WHERE company_id = :company AND list = '${list}' AND ${bucketSql(list, shift)} = :bucket AND rest IS NOT NULL AND ${ofOwner}),
  parts AS (
    INSERT INTO list_counts (company_id, list, shift, bucket, facet, count, latest, earliest)
    SELECT :company, :list, ${part}, part, facet, sum(n), max(latest), min(earliest) FROM stretch
    GROUP BY part, facet HAVING sum(n) <> 0 ORDER BY part, facet
    RETURNING company_id, list, shift, bucket, count)
  ${wantSplitsSql('parts')}`;
};

async function countParts(tx: Tx, { company_id, list, shift, bucket }: Split): Promise<void> {
  const { base, owner } = partsOfName(list);
  const { earliest, latest } = momentsOf(base, shift, BigInt(bucket));
  const names = {
    company: company_id,
    list,
    owner,
    bucket,
    earliest: String(earliest),
    latest: String(latest),
  };
  await tx.raw(partsSql(base, shift), names);
}

// One statement, as above. Its own stretches are parted afterwards.
const ownListCountsSql = `
  WITH leaves AS (
    SELECT company_id, place, NULL::bigint AS rest, facet, sum(n) AS n FROM (
      SELECT company_id, place, facet, 1 AS n FROM (${countedRowsSql.nft_changes}) AS rows
      WHERE company_id = :company AND rwa_number = :rwaNumber
      UNION ALL
      SELECT company_id, place, facet, -change FROM list_changes
      WHERE company_id = :company AND list = 'nft_changes' AND rwa_number = :rwaNumber) AS of_rwa
    GROUP BY company_id, place, facet HAVING sum(n) <> 0),
  counted AS (
    INSERT INTO list_counts (company_id, list, shift, bucket, facet, count)
    SELECT company_id, ${ownListSql(':rwaNumber::bigint')}, shift, bucket, facet, sum(n)
    FROM leaves l CROSS JOIN LATERAL ${stretchesSql('nft_changes', 'l', ownListSql(':rwaNumber::bigint'))} AS s (shift, bucket)
    GROUP BY company_id, shift, bucket, facet ORDER BY shift, bucket, facet
    RETURNING company_id, list, shift, bucket, count)
  ${wantSplitsSql('counted')}`;

async function countOwnList(tx: Tx, { company_id: company, bucket: rwaNumber }: Split): Promise<void> {
  await tx.raw(ownListCountsSql, { company, rwaNumber });
}

async function split(tx: Tx, wanted: Split): Promise<void> {
  const { company_id, list, shift, bucket } = wanted;
  await (list === rwaStretch.list ? countOwnList(tx, wanted) : countParts(tx, wanted));
  await tx('list_splits').where({ company_id, list, shift, bucket }).update({ is_counted: true });
}

// One that cannot be counted in its time holds up the others, and all that folds, no longer than once in a while.
const isWanted =
  "NOT is_counted AND (tried_at IS NULL OR tried_at < clock_timestamp() - interval '10 minutes')";

/**
 * Counts some of the stretches that are to be parted by their parts. One process at a time, and nobody folds meanwhile.
 * @returns how many, at most `limit`; 0 while another one is about it
 */
export async function splitCrowded(db: Database, limit: number): Promise<number> {
  let begun: readonly Split[] = [];
  const splitting = inTransaction(db, async (tx) => {
    const lock = await tx.raw(`SELECT pg_try_advisory_xact_lock(${foldLock}) AS is_ours`);
    if (lock.rows[0]?.is_ours !== true) return 0;
    const wanted: Split[] = await tx('list_splits').whereRaw(isWanted).limit(limit);
    begun = wanted;
    for (const each of wanted) await split(tx, each);
    return wanted.length;
  });
  return await splitting.catch(async (error: unknown) => {
    for (const { company_id, list, shift, bucket } of begun) {
      await db('list_splits')
        .where({ company_id, list, shift, bucket })
        .update({ tried_at: db.raw('clock_timestamp()') });
    }
    throw error;
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
    SELECT EXISTS (SELECT FROM list_changes) OR EXISTS (SELECT FROM list_splits WHERE ${isWanted}) AS found`);
  return rows[0]?.found === true;
}
