import type { Database } from '../contract/transaction.ts';
import { type CountedRows, countRows } from './list-counts-store.ts';
import { countBefore, type MomentCount } from './moment-counts-store.ts';
import { momentOf } from './moment-sql.ts';

/** Moments in microseconds since 1970, from the first up to, not including, the second. */
export type Span = { readonly from: bigint; readonly until: bigint };

/** Of lists that are counted by time; migration 0039 has it too: the microseconds of a stretch are 2^24, so 17 s. */
const timeShift = 24n;

const stretchAt = (micros: bigint): bigint => micros >> timeShift;
export const microsOf = (moment: Date): bigint => BigInt(moment.getTime()) * 1_000n;

/** The microseconds of a column of moments, in SQL. */
export const microsSql = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::bigint`;

/** The same; its binding is its microseconds. */
export const momentSql = momentOf('?::bigint');

/**
 * Counts rows of some span of time: whole stretches by their counters, and what of the stretches of its ends is before them.
 * @param before counts that
 */
export async function countSpan(
  db: Database,
  rows: Omit<CountedRows, 'places'>,
  { from, until }: Partial<Span>,
  before: MomentCount,
): Promise<number> {
  if (from !== undefined && until !== undefined && from >= until) return 0;
  const low = from === undefined ? undefined : stretchAt(from);
  const high = until === undefined ? undefined : stretchAt(until);
  const places = { ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
  const countHead = (moment: bigint | undefined) =>
    moment === undefined || moment === stretchAt(moment) << timeShift
      ? 0
      : countBefore(db, before, rows, moment);
  const [whole, left, added] = await Promise.all([
    low !== undefined && low === high ? 0 : countRows(db, { ...rows, places }),
    countHead(from),
    countHead(until),
  ]);
  // What goes between two statements may be missed by the first only.
  return Math.max(0, whole - left + added);
}
