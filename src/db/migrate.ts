import { fileURLToPath } from 'node:url';
import type { Knex } from 'knex';

const directory = fileURLToPath(new URL('../../migrations', import.meta.url));

/**
 * Brings the schema to the newest version, forward only. Knex holds a lock row; a second process that
 * starts meanwhile waits behind the advisory lock instead of failing on that row.
 * @returns the names of the migrations that were run
 */
export async function migrateToLatest(db: Knex): Promise<string[]> {
  return db.transaction(async (guard) => {
    await guard.raw("SELECT pg_advisory_xact_lock(hashtext('tallystick migrate'))");
    await db.migrate.forceFreeMigrationsLock(migrationConfig);
    const [, names]: [number, string[]] = await db.migrate.latest(migrationConfig);
    return names;
  });
}

const migrationConfig = { directory, loadExtensions: ['.ts'], tableName: 'schema_migrations' };
