import type { Database, Tx } from '../../contract/transaction.ts';
import { reachOf } from './reach.ts';

/** A value that pg binds without conversion. */
type Scalar = string | number | boolean | null | Buffer | Date;
export type Value = Scalar | readonly Scalar[];

/**
 * Runs a named statement, which each connection parses and plans once where the way to the server allows it. For the few
 * statements on the hot path, and only where one plan is right for all values: it stays until the server analyses the
 * table.
 * @param db a transaction, or the database for a statement of its own
 * @param name unique to this statement
 * @param text with `$1` and so on for the values
 */
export async function prepared<Row extends object>(
  db: Database | Tx,
  name: string,
  text: string,
  values: readonly Value[],
): Promise<{ rows: Row[]; rowCount: number }> {
  const { namesStatements } = reachOf(db);
  // Knex passes options on to pg. Its own placeholder is the question mark.
  const { rows, rowCount }: { rows: Row[]; rowCount: number | null } = await db
    .raw(text.replaceAll('?', '\\?'))
    .options({ values, ...(namesStatements && { name }) });
  return { rows, rowCount: rowCount ?? 0 };
}
