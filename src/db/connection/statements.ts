import type { Knex } from 'knex';

// A statement that waits for a table keeps all others from the table.
const lockWait = '2s';

/**
 * Runs a text of SQL one statement after another: what a cluster of Citus passes on to its nodes must be one statement.
 * In a transaction none waits longer for a table than callers do; the migration is tried again then.
 * @param sql each statement ends with `;` at the end of a line; bodies of functions stand between `$$`
 */
export async function runStatements(knex: Knex, sql: string): Promise<void> {
  if (knex.isTransaction) await knex.raw(`SET LOCAL lock_timeout = '${lockWait}'`);
  for (const statement of splitStatements(sql)) await knex.raw(statement);
}

function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let open = '';
  for (const piece of sql.split(/(?<=;)[ \t]*$/m)) {
    open += piece;
    // Of an odd number of quotes, the last quote is open.
    if (open.split('$$').length % 2 === 0) continue;
    statements.push(open.trim());
    open = '';
  }
  return [...statements, open.trim()].filter((statement) => statement !== '');
}
