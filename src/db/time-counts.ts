import type { Database } from '../contract/transaction.ts';
import { type CountedRows, countRows } from './list-counts-store.ts';
import { momentOf } from './moment-sql.ts';

/** Moments in microseconds since 1970, from the first up to, not including, the second. */
export type Span = { readonly from: bigint; readonly until: bigint };

/** Of lists that are counted by time; migration 0039 has it too: the microseconds of a stretch are 2^24, so 17 s. */
const timeShift = 24n;

const stretchAt = (micros: bigint): bigint => micros >> timeShift;
const startOfTime = (stretch: bigint): bigint => stretch << timeShift;
export const microsOf = (moment: Date): bigint => BigInt(moment.getTime()) * 1_000n;

/** The microseconds of a column of moments, in SQL. */
export const microsSql = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::bigint`;

/** The same; its binding is its microseconds. */
export const momentSql = momentOf('?::bigint');

/**
 * Counts rows of some span of time: whole stretches by their counters.
 * @param span an absent end is open
 * @param countSome counts the rows in a part of a stretch one by one
 */
export async function countSpan(
  db: Database,
  rows: Omit<CountedRows, 'places'>,
  { from, until }: Partial<Span>,
  countSome: (part: Span) => Promise<number>,
): Promise<number> {
  const low = from === undefined ? undefined : -stretchAt(-from);
  const high = until === undefined ? undefined : stretchAt(until);
  if (from !== undefined && until !== undefined && high !== undefined && low !== undefined && high < low)
    return from < until ? countSome({ from, until }) : 0;
  const parts = [
    countRows(db, {
      ...rows,
      places: { ...(low !== undefined && { low }), ...(high !== undefined && { high }) },
    }),
    from !== undefined && low !== undefined && from < startOfTime(low)
      ? countSome({ from, until: startOfTime(low) })
      : 0,
    until !== undefined && high !== undefined && startOfTime(high) < until
      ? countSome({ from: startOfTime(high), until })
      : 0,
  ];
  const counts = await Promise.all(parts);
  return counts.reduce((sum, count) => sum + count, 0);
}
