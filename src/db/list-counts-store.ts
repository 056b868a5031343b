import type { Database } from '../contract/transaction.ts';
import { inBackground } from '../request-scope.ts';
import {
  bucketAtSql,
  firstWithinSql,
  type ListName,
  manyRows,
  partLevelsOf,
  shiftsOf,
} from './list-levels.ts';
import { settleCounts } from './list-splits-store.ts';
import { ownListOf } from './own-lists.ts';
import { prepared, type Value } from './prepared.ts';
import { reachOf } from './reach.ts';

/*
 * How many rows lists have, and where the row at an offset stands, from counters (migration 0039): a tree of stretches
 * of places, each counted, and beside it the changes that are not folded into it yet.
 */

/** Which rows of a company's list. */
export type CountedRows = {
  readonly list: ListName;
  readonly companyId: string;
  /** The facets that count; the migration says what they are of each list. */
  readonly facets: readonly string[];
  /** Places from `low` up to, not including, `high`; all by default. */
  readonly places?: Partial<Places>;
  /** An RWA that has a list of its own (`own-lists.ts`): only what is in that one. */
  readonly rwaNumber?: bigint;
};

type Places = { readonly low: bigint; readonly high: bigint };

// Beyond every place of every list, and a multiple of every stretch.
export const placesOf = ({ places }: CountedRows): Places => ({
  low: -(1n << 61n),
  high: 1n << 62n,
  ...places,
});

/** The shifts of the stretches that make up the places: wider ones have rows of others, too. */
export function shiftsWithin(rows: CountedRows): number[] {
  const { low, high } = placesOf(rows);
  return shiftsOf[rows.list].filter((shift) => ((low | high) & ((1n << BigInt(shift)) - 1n)) === 0n);
}

/** Changes of a company that readers add up at most, before they fold them. */
const manyChanges = 1_000;

type Stretches = { readonly shift: number; readonly low: bigint; readonly high: bigint };

/** The fewest stretches that make up the places: buckets from `low` to `high`, which is included. */
function stretchesOf(rows: CountedRows): Stretches[] {
  const { list } = rows;
  const found: Stretches[] = [];
  const add = (shift: number, low: bigint, high: bigint) => {
    if (low < high) found.push({ shift, low: low >> BigInt(shift), high: (high >> BigInt(shift)) - 1n });
  };
  let { low, high } = placesOf(rows);
  for (const [index, shift] of shiftsOf[list].entries()) {
    const wider = shiftsOf[list][index + 1];
    const unit = BigInt(wider ?? 0);
    const innerLow = -((-low >> unit) << unit);
    const innerHigh = (high >> unit) << unit;
    if (wider === undefined || innerLow >= innerHigh) {
      add(shift, low, high);
      return found;
    }
    add(shift, low, innerLow);
    add(shift, innerHigh, high);
    [low, high] = [innerLow, innerHigh];
  }
  return found;
}

// Each stretch and facet by itself is a range of the index, whatever the planner makes of its samples: joined, it may read
// all counters there are instead, which takes half a second of 4,000,000.
const countSql = `
  SELECT pending, change
    + (SELECT coalesce(sum(c.count), 0) FROM unnest($6::smallint[], $7::bigint[], $8::bigint[])
           AS w (shift, low, high)
         CROSS JOIN unnest($3::text[]) AS f (facet)
         CROSS JOIN LATERAL (SELECT sum(count) AS count FROM list_counts
           WHERE company_id = $1 AND list = $9 AND shift = w.shift AND bucket BETWEEN w.low AND w.high AND facet = f.facet) AS c) AS count
  FROM (SELECT count(*) AS pending,
      coalesce(sum(change) FILTER (WHERE facet = ANY ($3) AND place >= $4 AND place < $5), 0) AS change
    FROM list_changes WHERE company_id = $1 AND list = $2 AND ($10::bigint IS NULL OR rwa_number = $10)) AS changes`;

function valuesOf(rows: CountedRows): Value[] {
  const { companyId, list, facets } = rows;
  const { low, high } = placesOf(rows);
  return [companyId, list, facets, low.toString(), high.toString()];
}

const settling = new WeakSet<Database>();

/** One at a time: while another process is about it, hundreds of readers would only find so. What fails is left to a later one. */
function settleBehind(db: Database): void {
  if (settling.has(db)) return;
  settling.add(db);
  void inBackground(() => settleCounts(db))
    .catch(() => {})
    .finally(() => settling.delete(db));
}

/** How many rows there are. Folds the changes of the company behind the answer, when they are many. */
export async function countRows(db: Database, rows: CountedRows): Promise<number> {
  const stretches = stretchesOf(rows);
  const found = await prepared<{ count: string; pending: string }>(db, 'count_rows', countSql, [
    ...valuesOf(rows),
    stretches.map(({ shift }) => shift),
    stretches.map(({ low }) => low.toString()),
    stretches.map(({ high }) => high.toString()),
    ...(rows.rwaNumber === undefined
      ? [rows.list, null]
      : [ownListOf(rows.rwaNumber), rows.rwaNumber.toString()]),
  ]);
  const [row] = found.rows;
  const mayFold = Number(row?.pending) > manyChanges && !reachOf(db).isReplica;
  if (mayFold) settleBehind(db);
  return Number(row?.count ?? 0);
}

/** Where a row stands: in which of the smallest stretches, and behind how many of its rows. */
export type Found = { readonly place: bigint; readonly skipped: number };

/** The same in a list whose stretches may be parted: in which part, whose shift is below 0. */
export type FoundPart = { readonly shift: number; readonly bucket: bigint; readonly skipped: number };

/**
 * Finds the row that an offset leads to, by a walk down the tree, of which it reads some hundred counters.
 * @returns undefined when there are no more rows than the offset
 */
export async function findOffset(
  db: Database,
  rows: CountedRows,
  offset: number,
): Promise<FoundPart | undefined> {
  const { list } = rows;
  const levels = [...shiftsWithin(rows).toReversed(), ...partLevelsOf(list).map(({ shift }) => shift)];
  const found = await prepared<{ shift: number; bucket: string; skipped: string }>(
    ...([db, `find_offset_${list}`, walkSql(list), [...valuesOf(rows), offset, levels]] as const),
  );
  const [row] = found.rows;
  return row && { shift: row.shift, bucket: BigInt(row.bucket), skipped: Number(row.skipped) };
}

// The server does not look into what is selected when it plans, so it makes one plan for all walks. One for each took more than
// their time.
const [company, named, facets, lowest, end, wanted, levels] = [
  ...['text', 'text', 'text[]', 'bigint', 'bigint', 'bigint', 'int[]'].entries(),
].map(([index, type]) => `((SELECT $${index + 1}::${type})::${type})`);

/** SQL of how many rows the stretches of a level have, those from `l.low` to `l.high`. */
const countedSql = (list: ListName) => `
  SELECT bucket, count AS n FROM list_counts WHERE company_id = ${company} AND list = ${named}
    AND shift = l.shift AND bucket BETWEEN l.low AND l.high AND facet = ANY ${facets}
  UNION ALL
  SELECT bucket, change FROM (SELECT ${bucketAtSql(list, 'l.shift')} AS bucket, change FROM changes) AS c
  WHERE bucket BETWEEN l.low AND l.high`;

/**
 * SQL of the walk: of the widest stretches it finds the one that has the row, of that one's stretches the one that has it, and
 * so on. Where a stretch is not parted, its parts have no counters, or fewer rows than it has. One statement that goes round
 * is planned and begun in a third of the time of one that has each level by itself.
 */
const walkSql = (list: ListName) => `
  WITH RECURSIVE changes AS MATERIALIZED (
    SELECT place, rest, change FROM list_changes WHERE company_id = ${company} AND list = ${named}
      AND facet = ANY ${facets} AND place >= ${lowest} AND place < ${end}),
  walk (level, shift, bucket, before, n) AS (
    SELECT 0, 64, NULL::bigint, 0::numeric, NULL::numeric
    UNION ALL
    SELECT w.level + 1, l.shift, s.bucket, s.before, s.n
    FROM walk w
    CROSS JOIN LATERAL (
      SELECT shift, coalesce(first, ${lowest} >> shift) AS low,
        coalesce(first + (1::bigint << w.shift - shift) - 1, (${end} - 1) >> shift) AS high
      FROM (SELECT ${levels}[w.level + 1] AS shift) AS next,
        LATERAL (SELECT ${firstWithinSql(list, 'w', 'shift')} AS first) AS f
      OFFSET 0) AS l
    CROSS JOIN LATERAL (
      SELECT bucket, before, n FROM (
        SELECT bucket, sum(n) AS n, sum(sum(n)) OVER () AS of_all,
          w.before + sum(sum(n)) OVER (ORDER BY bucket) - sum(n) AS before
        FROM (${countedSql(list)}) AS counted GROUP BY bucket) AS summed
      WHERE before <= ${wanted} AND before + n > ${wanted} AND (w.shift > 0 OR of_all = w.n) LIMIT 1) AS s
    WHERE w.level < cardinality(${levels}) AND (w.shift > 0 OR w.n > ${manyRows}))
  SELECT shift, bucket, ${wanted} - before AS skipped FROM walk WHERE shift <= 0 ORDER BY level DESC LIMIT 1`;
