import type { Database, Tx } from '../contract/transaction.ts';

/** What pg takes as it is. */
export type Value = string | number | boolean | null | Buffer | Date | readonly string[];

/**
 * Runs a statement that each connection parses and plans once, under its name: for the few that every request
 * runs, where that is most of their cost. For look-ups by a unique key only: until the server analyses a table
 * that grows, its plan stays as it was.
 * @param name of this statement alone
 * @param sql with `$1` and so on for the values: with Knex's own placeholders the text would be read anew each time
 */
export async function prepared<Row>(
  db: Database | Tx,
  name: string,
  sql: string,
  values: readonly Value[],
): Promise<{ rows: Row[]; rowCount: number }> {
  // Knex hands these options on to pg, which takes values of its own with them.
  return await db.raw(sql).options({ name, values });
}
