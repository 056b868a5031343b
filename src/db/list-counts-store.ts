import type { Database } from '../contract/transaction.ts';
import { inBackground } from '../request-scope.ts';
import {
  bucketSql,
  firstPartSql,
  type ListName,
  manyRows,
  partShift,
  partShiftsOf,
  shiftsOf,
} from './list-levels.ts';
import { settleCounts } from './list-splits-store.ts';
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
  WITH changes AS MATERIALIZED (
    SELECT place, facet, change FROM list_changes WHERE company_id = $1 AND list = $2)
  SELECT (SELECT count(*) FROM changes) AS pending,
    (SELECT coalesce(sum(change), 0) FROM changes
     WHERE facet = ANY ($3) AND place >= $4 AND place < $5)
    + (SELECT coalesce(sum(c.count), 0) FROM unnest($6::smallint[], $7::bigint[], $8::bigint[])
           AS w (shift, low, high)
         CROSS JOIN unnest($3::text[]) AS f (facet)
         CROSS JOIN LATERAL (SELECT sum(count) AS count FROM list_counts WHERE company_id = $1 AND list = $2
           AND shift = w.shift AND bucket BETWEEN w.low AND w.high AND facet = f.facet) AS c) AS count`;

function valuesOf(rows: CountedRows): Value[] {
  const { companyId, list, facets } = rows;
  const { low, high } = placesOf(rows);
  return [companyId, list, facets, low.toString(), high.toString()];
}

/** How many rows there are. Folds the changes of the company behind the answer, when they are many. */
export async function countRows(db: Database, rows: CountedRows): Promise<number> {
  const stretches = stretchesOf(rows);
  const found = await prepared<{ count: string; pending: string }>(db, 'count_rows', countSql, [
    ...valuesOf(rows),
    stretches.map(({ shift }) => shift),
    stretches.map(({ low }) => low.toString()),
    stretches.map(({ high }) => high.toString()),
  ]);
  const [row] = found.rows;
  const mayFold = Number(row?.pending) > manyChanges && !reachOf(db).isReplica;
  // What fails is left to whoever reads next.
  if (mayFold) void inBackground(() => settleCounts(db)).catch(() => {});
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
  const shifts = shiftsWithin(rows);
  const found = await prepared<{ shift: number; bucket: string; skipped: string }>(
    ...([
      db,
      `find_offset_${rows.list}_${shifts.length}`,
      walkSql(rows.list, shifts),
      [...valuesOf(rows), offset],
    ] as const),
  );
  const [row] = found.rows;
  return row && { shift: row.shift, bucket: BigInt(row.bucket), skipped: Number(row.skipped) };
}

// The server does not look into these when it plans, so it makes one plan for all walks. One for each took half of their
// time.
const facets = '((SELECT $3::text[])::text[])';
const lowest = '(SELECT $4::bigint)';
const end = '(SELECT $5::bigint)';

type Level = { readonly shift: number; readonly low: string; readonly high: string };

/** SQL of the counters of a stretch's stretches. */
const countersSql = (list: ListName, { shift, low, high }: Level) => {
  const stretch = `shift = ${shift} AND bucket BETWEEN ${low} AND ${high}`;
  const inStretch = `SELECT bucket, count AS n FROM list_counts WHERE company_id = $1 AND list = $2 AND ${stretch}`;
  // RWAs have as many facets as types: to look each one up is less than to read them all, but of 256 parts with up to eight
  // facets. The other lists have few.
  return list === 'rwas' && shift >= 0
    ? `SELECT c.* FROM unnest(${facets}) AS f (facet)
         CROSS JOIN LATERAL (${inStretch} AND facet = f.facet OFFSET 0) AS c`
    : `${inStretch} AND facet || '' = ANY ${facets}`;
};

type Wider = { readonly before: string; readonly isEntered: string };

const nameOf = (shift: number) => `at_${shift < 0 ? `part_${-shift}` : shift}`;
const of = (shift: number, column: string) => `(SELECT ${column} FROM ${nameOf(shift)})`;

/** SQL of which of some stretches of one width has the row. */
const levelSql = (list: ListName, { shift, low, high }: Level, { before, isEntered }: Wider) => `
  ${nameOf(shift)} AS MATERIALIZED (
    SELECT bucket, before, n FROM (
      SELECT bucket, sum(n) AS n, sum(sum(n)) OVER () AS of_all,
        ${before} + sum(sum(n)) OVER (ORDER BY bucket) - sum(n) AS before
      FROM (
        ${countersSql(list, { shift, low, high })}
        UNION ALL
        SELECT ${bucketSql(list, shift)}, change FROM changes WHERE ${bucketSql(list, shift)} BETWEEN ${low} AND ${high}
      ) AS counted GROUP BY bucket) AS summed
    WHERE ${isEntered} AND before <= $6 AND before + n > $6 LIMIT 1)`;

// The widest stretches first; of those, the one that has the row, and so on. What was found of one level is a scalar of
// the next, so that it bounds the range of the index whatever the planner believes of the table.
function wholeLevels(list: ListName, shifts: readonly number[]): string[] {
  return shifts.toReversed().map((shift, index, downward) => {
    const wider = downward[index - 1];
    if (wider === undefined) {
      const all = { shift, low: `${lowest} >> ${shift}`, high: `(${end} - 1) >> ${shift}` };
      return levelSql(list, all, { before: '0', isEntered: 'true' });
    }
    const low = `${of(wider, 'bucket')} << ${wider - shift}`;
    const high = `((${of(wider, 'bucket')} + 1) << ${wider - shift}) - 1`;
    return levelSql(list, { shift, low, high }, { before: of(wider, 'before'), isEntered: 'true' });
  });
}

// Where a stretch is not parted, its parts have no counters, or fewer rows than it has.
function partLevels(list: ListName): string[] {
  return partShiftsOf(list).map((shift) => {
    const wider = shift + partShift;
    const low = firstPartSql(list, { shift: wider, bucket: of(wider, 'bucket') });
    const isEntered = `${of(wider, 'n')} > ${manyRows} AND of_all = ${of(wider, 'n')}`;
    const level = { shift, low, high: `${low} + ${2 ** partShift - 1}` };
    return levelSql(list, level, { before: of(wider, 'before'), isEntered });
  });
}

function walkSql(list: ListName, shifts: readonly number[]): string {
  const found = [shifts[0] ?? 0, ...partShiftsOf(list)].map(
    (shift) => `SELECT ${shift} AS shift, bucket, before FROM ${nameOf(shift)}`,
  );
  return `
    WITH changes AS MATERIALIZED (
      SELECT place, rest, change FROM list_changes WHERE company_id = $1 AND list = $2
        AND facet = ANY ${facets} AND place >= ${lowest} AND place < ${end}),
    ${[...wholeLevels(list, shifts), ...partLevels(list)].join(',')}
    SELECT shift, bucket, $6 - before AS skipped FROM (${found.join(' UNION ALL ')}) AS found ORDER BY shift LIMIT 1`;
}
