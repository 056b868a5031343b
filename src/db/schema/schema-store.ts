import type { Database } from '../../contract/transaction.ts';
import type { SchemaRange } from './schema-range.ts';

/** The table in which Knex notes the migrations that were run. */
export const historyTable = 'schema_history';

// Release 0.1.0 has its own, and does not start when it finds names in it that it does not know.
const firstTable = 'schema_migrations';

/** Takes over what 0.1.0 has run, whose processes go on, and start again, by a table that stays as they know it. */
export async function adoptHistory(db: Database): Promise<void> {
  if (!(await db.schema.hasTable(firstTable))) return;
  await db.raw(
    `INSERT INTO ${historyTable} (name, batch, migration_time)
     SELECT name, batch, migration_time FROM ${firstTable} f
     WHERE NOT EXISTS (SELECT FROM ${historyTable} h WHERE h.name = f.name) ORDER BY id`,
  );
}

/** Stores which releases may run on the schema. */
export async function storeRange(db: Database, range: SchemaRange): Promise<void> {
  await db('schema_range')
    .insert({ migrated_by: range.migratedBy, needs: range.needs, oldest_release: range.oldestRelease })
    .onConflict('singleton')
    .merge();
}

/** The names of the migrations that were run, in this order, and which releases may run on the schema. */
export type StoredSchema = { readonly run: readonly string[]; readonly range: SchemaRange | undefined };

/** Reads them without changing anything. */
export async function readSchema(db: Database): Promise<StoredSchema> {
  const { rows }: { rows: { history: string | null; has_range: boolean }[] } = await db.raw(
    `SELECT coalesce(to_regclass(?), to_regclass(?))::text AS history, to_regclass('schema_range') IS NOT NULL AS has_range`,
    [historyTable, firstTable],
  );
  const [found] = rows;
  if (found?.history == null) return { run: [], range: undefined };
  const run: string[] = await db(found.history).pluck('name').orderBy('id');
  const range: SchemaRange | undefined = found.has_range
    ? await db('schema_range').first({
        migratedBy: 'migrated_by',
        needs: 'needs',
        oldestRelease: 'oldest_release',
      })
    : undefined;
  return { run, range };
}
