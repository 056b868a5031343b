import type { Database } from '../contract/transaction.ts';
import { inBackground } from '../request-scope.ts';
import { prepared, type Value } from './prepared.ts';
import { reachOf } from './reach.ts';
import { inTransaction } from './transaction.ts';

/*
 * How many rows lists have, and where the row at an offset stands, from counters (migration 0039): a tree of stretches
 * of places, each counted, and beside it the changes that are not folded into it yet.
 */

/**
 * The lists that are counted, with the shifts of their stretches: a bucket of shift s counts 2^s places. What lies
 * above the last shift is few. The same as in the migrations (0039, 0043, 0045).
 */
export const shiftsOf = {
  nfts: [0, 8, 32, 40, 48],
  nft_changes: [0, 8, 16],
  rwas: [0, 8, 12, 16, 20, 24],
  events: [0, 8, 16],
  event_starts: [0, 8, 16],
} as const;

/** Which rows of a company's list. */
export type CountedRows = {
  readonly list: keyof typeof shiftsOf;
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

const countSql = `
  WITH changes AS MATERIALIZED (
    SELECT place, facet, change FROM list_changes WHERE company_id = $1 AND list = $2)
  SELECT (SELECT count(*) FROM changes) AS pending,
    (SELECT coalesce(sum(change), 0) FROM changes
     WHERE facet = ANY ($3) AND place >= $4 AND place < $5)
    + (SELECT coalesce(sum(c.count), 0) FROM unnest($6::smallint[], $7::bigint[], $8::bigint[])
         AS w (shift, low, high) JOIN list_counts c ON c.company_id = $1 AND c.list = $2
           AND c.shift = w.shift AND c.bucket BETWEEN w.low AND w.high AND c.facet = ANY ($3)) AS count`;

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
  if (mayFold) void inBackground(() => foldAll(db)).catch(() => {});
  return Number(row?.count ?? 0);
}

/** Where a row stands: in which of the smallest stretches, and behind how many of its rows. */
export type Found = { readonly place: bigint; readonly skipped: number };

/**
 * Finds the row that an offset leads to, by a walk down the tree, of which it reads some hundred counters.
 * @returns undefined when there are no more rows than the offset
 */
export async function findOffset(
  db: Database,
  rows: CountedRows,
  offset: number,
): Promise<Found | undefined> {
  const shifts = shiftsWithin(rows);
  const found = await prepared<{ place: string; skipped: string }>(
    ...([
      db,
      `find_offset_${rows.list}_${shifts.length}`,
      walkSql(rows.list, shifts),
      [...valuesOf(rows), offset],
    ] as const),
  );
  const [row] = found.rows;
  return row && { place: BigInt(row.place), skipped: Number(row.skipped) };
}

// The server does not look into these when it plans, so it makes one plan for all walks. One for each took half of their
// time.
const facets = '((SELECT $3::text[])::text[])';
const lowest = '(SELECT $4::bigint)';
const end = '(SELECT $5::bigint)';

// The widest stretches first; of those, the one that has the row, and so on. What was found of one level is a scalar of
// the next, so that it bounds the range of the index whatever the planner believes of the table.
function walkSql(list: CountedRows['list'], shifts: readonly number[]): string {
  // RWAs have as many facets as types: to pass over those that are not wanted in the index is less than to read them. The
  // other lists have few.
  const facet = list === 'rwas' ? 'facet' : "facet || ''";
  const levels = shifts.toReversed().map((shift, index, downward) => {
    const wider = downward[index - 1];
    const [low, high, before] =
      wider === undefined
        ? [`${lowest} >> ${shift}`, `(${end} - 1) >> ${shift}`, '0']
        : [
            `(SELECT bucket FROM at_${wider}) << ${wider - shift}`,
            `(((SELECT bucket FROM at_${wider}) + 1) << ${wider - shift}) - 1`,
            `(SELECT before FROM at_${wider})`,
          ];
    return `at_${shift} AS MATERIALIZED (
      SELECT bucket, before FROM (
        SELECT bucket, sum(n) AS n, ${before} + sum(sum(n)) OVER (ORDER BY bucket) - sum(n) AS before FROM (
          SELECT bucket, count AS n FROM list_counts WHERE company_id = $1 AND list = $2
            AND shift = ${shift} AND bucket BETWEEN ${low} AND ${high} AND ${facet} = ANY ${facets}
          UNION ALL
          SELECT place >> ${shift}, change FROM changes WHERE place >> ${shift} BETWEEN ${low} AND ${high}
        ) AS counted GROUP BY bucket) AS summed
      WHERE before <= $6 AND before + n > $6 LIMIT 1)`;
  });
  return `
    WITH changes AS MATERIALIZED (
      SELECT place, change FROM list_changes WHERE company_id = $1 AND list = $2
        AND facet = ANY ${facets} AND place >= ${lowest} AND place < ${end}),
    ${levels.join(',\n')}
    SELECT bucket AS place, $6 - before AS skipped FROM at_${shifts[0]}`;
}

/** SQL of the number of the advisory lock of whoever writes counters. */
export const foldLock = "hashtext('tallystick list counts')";

// What one transaction folds.
const foldSize = 5_000;

// A mark that is unknown stays so.
const foldedMark = (mark: string, reach: string) =>
  `CASE WHEN count(*) = count(${mark}) THEN ${reach}(${mark}) END AS ${mark}`;

// In order: a walk reads neighbours.
const foldSql = `
  WITH taken AS (
    DELETE FROM list_changes WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM list_changes LIMIT :limit FOR UPDATE SKIP LOCKED))
    RETURNING company_id, list, place, facet, change, latest, earliest),
  shifts AS (SELECT * FROM jsonb_to_recordset(:shifts) AS s (list text, shift smallint)),
  folded AS (
    INSERT INTO list_counts AS c (company_id, list, shift, bucket, facet, count, latest, earliest)
    SELECT company_id, list, shift, place >> shift, facet, sum(change), ${foldedMark('latest', 'max')},
      ${foldedMark('earliest', 'min')}
    FROM taken JOIN shifts USING (list) GROUP BY company_id, list, shift, place >> shift, facet
    ORDER BY company_id, list, shift, place >> shift, facet
    ON CONFLICT (company_id, list, shift, bucket, facet) DO UPDATE SET count = c.count + excluded.count,
      latest = CASE WHEN c.latest IS NOT NULL AND excluded.latest IS NOT NULL
        THEN greatest(c.latest, excluded.latest) END,
      earliest = CASE WHEN c.earliest IS NOT NULL AND excluded.earliest IS NOT NULL
        THEN least(c.earliest, excluded.earliest) END
    RETURNING company_id, list, shift, bucket, facet, count)
  SELECT (SELECT count(*) FROM taken) AS taken,
    (SELECT jsonb_agg(to_jsonb(folded) - 'count') FROM folded WHERE count = 0) AS empty`;

// What was taken may be the end of a row whose beginning is still to come: then others are left, of which this has the
// mark.
const dropEmptySql = `
  DELETE FROM list_counts c
  USING jsonb_to_recordset(?::jsonb) AS e (company_id text, list text, shift smallint, bucket bigint, facet text)
  WHERE c.company_id = e.company_id AND c.list = e.list AND c.shift = e.shift AND c.bucket = e.bucket
    AND c.facet = e.facet AND c.count = 0
    AND NOT EXISTS (SELECT FROM list_changes p WHERE p.company_id = e.company_id AND p.list = e.list
      AND p.place >> e.shift = e.bucket AND p.facet = e.facet)`;

const shiftRows = JSON.stringify(
  Object.entries(shiftsOf).flatMap(([list, shifts]) => shifts.map((shift) => ({ list, shift }))),
);

async function foldAll(db: Database): Promise<void> {
  while ((await foldCounts(db)) === foldSize);
}

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
      shifts: shiftRows,
    });
    const [done] = rows;
    if (done?.empty) await tx.raw(dropEmptySql, [JSON.stringify(done.empty)]);
    return Number(done?.taken ?? 0);
  });
}
