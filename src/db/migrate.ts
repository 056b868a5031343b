import { fileURLToPath } from 'node:url';
import type { Database } from '../contract/transaction.ts';
import { schemaRange } from './schema-range.ts';
import { adoptHistory, historyTable, storeRange } from './schema-store.ts';

const directory = fileURLToPath(new URL('../../migrations', import.meta.url));

/**
 * Migrates the schema to the newest version, forward only. An advisory lock makes a second process wait, which
 * would otherwise fail on Knex's lock row.
 * @returns the names of the migrations that were run
 */
export async function migrateToLatest(db: Database): Promise<string[]> {
  return db.transaction(async (lockHolder) => {
    // It only holds the lock, for as long as the migrations take.
    await lockHolder.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
    await lockHolder.raw('SET LOCAL lock_timeout = 0');
    await lockHolder.raw("SELECT pg_advisory_xact_lock(hashtext('tallystick migrate'))");
    await db.migrate.forceFreeMigrationsLock(migrationConfig);
    // Makes the tables in which they are noted.
    await db.migrate.currentVersion(migrationConfig);
    await adoptHistory(db);
    const [, names]: [number, string[]] = await db.migrate.latest(migrationConfig);
    await storeRange(db, schemaRange);
    return names;
  });
}

/** What Knex wants to know of the migrations. */
export const migrationConfig = { directory, loadExtensions: ['.ts'], tableName: historyTable };
