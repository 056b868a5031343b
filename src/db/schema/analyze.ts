import type { Database } from '../../contract/transaction.ts';

// The server plans well for a smaller table without statistics, and badly with statistics of an empty table.
const leastBytes = 256 * 1024;

/**
 * Has the server update its statistics of the larger tables, after many rows came at once. The server replans prepared
 * statements then. A failure is ignored: autovacuum does later what fails here, and analyzes the tables of other owners.
 */
export async function analyzeTables(db: Database): Promise<void> {
  const { rows }: { rows: { name: string }[] } = await db.raw(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
       AND pg_relation_size(oid) >= ? AND pg_has_role(relowner, 'USAGE')`,
    [leastBytes],
  );
  for (const { name } of rows) await db.raw(`ANALYZE ${name}`).catch(() => {});
}
