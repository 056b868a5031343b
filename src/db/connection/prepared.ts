import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
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

// Of each process, since the number of texts is small.
const names = new Map<string, string>();

/** The name of a prepared statement that has no name of its own, made of its text. Only for texts of which there are few. */
export function nameOf(text: string): string {
  const name = names.get(text) ?? `of_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  names.set(text, name);
  return name;
}

/** Runs a query of Knex as a named statement. Its filters may change the text, so a query has a few statements. */
export async function preparedQuery<Row extends object>(
  db: Database | Tx,
  built: Knex.QueryBuilder | Knex.Raw,
): Promise<Row[]> {
  const { sql, bindings } = built.toSQL().toNative();
  const { rows } = await prepared<Row>(db, nameOf(sql), sql, bindings as readonly Value[]);
  return rows;
}
