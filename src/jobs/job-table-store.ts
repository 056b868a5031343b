import type { Database } from '../contract/transaction.ts';

const tables = ['version', 'queue', 'job'];

/**
 * Checks that the job queue has its tables, without which nothing is minted or sent. A backup of some schemas only lacks them.
 * @throws Error that says how they are made
 */
export async function assertJobTables(db: Database): Promise<void> {
  const { rows }: { rows: { name: string }[] } = await db.raw(
    `SELECT name FROM unnest(?::text[]) AS wanted (name) WHERE NOT EXISTS (
       SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'pgboss' AND c.relname = name)`,
    [tables],
  );
  if (rows.length === 0) return;
  // The tables that are there would keep the others from being made. Rows decide what there is to do, so no job is
  // missed.
  const first = rows.length === tables.length ? '' : 'DROP SCHEMA pgboss CASCADE in psql, then ';
  const missing = rows.map(({ name }) => `pgboss.${name}`).join(', ');
  throw new Error(`The job queue lacks ${missing}: run ${first}tallystick migrate`);
}
