import type { Database } from '../../src/contract/transaction.ts';

/** A statement as it went to the database. */
export type Statement = { readonly sql: string; readonly bindings: readonly unknown[] };

/** The statements that the work sends, in their order; at least one. */
export async function statementsOf(db: Database, work: () => Promise<unknown>): Promise<Statement[]> {
  const sent: Statement[] = [];
  // Values of prepared statements pass Knex as an option.
  const note = ({ sql, bindings, options }: Statement & { options?: { values?: unknown[] } }) =>
    sent.push({ sql, bindings: options?.values ?? bindings });
  db.on('query', note);
  await work().finally(() => db.removeListener('query', note));
  if (sent.length === 0) throw new Error('Nothing was asked of the database.');
  return sent;
}

/** The rows of an EXPLAIN of it, with its values. */
async function explain(db: Database, { sql, bindings }: Statement, options = ''): Promise<unknown[]> {
  // Knex wants its own placeholders back.
  const named = Object.fromEntries(bindings.map((value, index) => [`p${index + 1}`, value as string]));
  const { rows } = await db.raw(`EXPLAIN ${options} ${sql.replaceAll(/\$(\d+)/g, ':p$1')}`, named);
  return rows.map((row: { 'QUERY PLAN': unknown }) => row['QUERY PLAN']);
}

/** Its plan, as psql shows it. */
export async function planOf(db: Database, statement: Statement, options?: string): Promise<string> {
  return (await explain(db, statement, options)).join('\n');
}

/** What running it came to (EXPLAIN ANALYZE). */
async function runPlanOf(db: Database, statement: Statement): Promise<RunPlan> {
  const [[{ Plan }]] = (await explain(db, statement, '(ANALYZE, FORMAT JSON)')) as [[{ Plan: RunPlan }]];
  return Plan;
}

/** A node of a plan that has run: its rows, of each loop. */
type RunPlan = {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly RunPlan[];
};

function rowsRead(plan: RunPlan, table: string): number {
  const own = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0);
  const below = (plan.Plans ?? []).map((each) => rowsRead(each, table));
  return below.reduce(
    (sum, rows) => sum + rows,
    plan['Relation Name'] === table ? own * plan['Actual Loops'] : 0,
  );
}

/**
 * How many rows of a table the statements of the work that name it read.
 * @param part which of its partitions has its rows; the table itself by default
 */
export async function rowsReadBy(
  db: Database,
  table: string,
  work: () => Promise<unknown>,
  part = table,
): Promise<number> {
  let read = 0;
  for (const statement of await statementsOf(db, work))
    if (statement.sql.includes(table)) read += rowsRead(await runPlanOf(db, statement), part);
  return read;
}
