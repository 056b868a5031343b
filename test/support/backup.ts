import type { Knex } from 'knex';

// A backup in the same database: quick enough for random sequences, and as old as any other.
const schema = 'backup';

/** Deletes the backup, if there is one. */
export async function forgetBackup(db: Knex): Promise<void> {
  await db.raw(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
}

/** Keeps a copy of what the tables of the service say now, in place of an earlier one. */
export async function backUp(db: Knex): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.raw(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await tx.raw(`CREATE SCHEMA ${schema}`);
    for (const table of await tablesOf(tx, 'public')) {
      await tx.raw('CREATE TABLE ??.?? AS TABLE public.??', [schema, table, table]);
    }
  });
}

/**
 * Makes the tables say what they said when they were backed up; jobs that came later are gone too.
 * @returns whether there was a backup
 */
export async function restoreBackup(db: Knex): Promise<boolean> {
  return db.transaction(async (tx) => {
    const tables = await tablesOf(tx, schema);
    if (tables.length === 0) return false;
    // Without triggers and foreign keys, so that tables are restored in any order.
    await tx.raw("SET LOCAL session_replication_role = 'replica'");
    await tx.raw(`TRUNCATE ${tables.map((table) => `public."${table}"`).join(', ')} CASCADE`);
    for (const table of tables) {
      const columns = await insertableColumns(tx, table);
      await tx.raw(
        `INSERT INTO public."${table}" (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${schema}."${table}"`,
      );
    }
    await tx.raw('TRUNCATE pgboss.job CASCADE');
    return true;
  });
}

async function tablesOf(tx: Knex, name: string): Promise<string[]> {
  const rows = await tx('pg_tables')
    .where({ schemaname: name })
    .whereNot('tablename', 'like', 'knex_%')
    .select('tablename');
  return rows.map(({ tablename }) => tablename);
}

/** The columns of a table that are not worked out from others. */
async function insertableColumns(tx: Knex, table: string): Promise<string> {
  const rows = await tx('information_schema.columns')
    .where({ table_schema: 'public', table_name: table, is_generated: 'NEVER' })
    .select('column_name');
  return rows.map(({ column_name: column }) => `"${column}"`).join(', ');
}
