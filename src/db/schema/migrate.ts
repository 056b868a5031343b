import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../../base/thrown.ts';
import type { Database } from '../../contract/transaction.ts';
import { schemaRange } from './schema-range.ts';
import { adoptHistory, historyTable, storeRange } from './schema-store.ts';

const directory = fileURLToPath(new URL('../../../migrations', import.meta.url));

/**
 * Migrates the schema to the newest version, forward only. An advisory lock makes a second process wait, which
 * would otherwise fail on Knex's lock row.
 * @returns the names of the migrations that were run
 */
export async function migrateToLatest(db: Database): Promise<string[]> {
  return db.transaction(async (lockHolder) => {
    // It only keeps the lock, for as long as the migrations take.
    await lockHolder.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
    await lockHolder.raw('SET LOCAL lock_timeout = 0');
    await lockHolder.raw("SELECT pg_advisory_xact_lock(hashtext('tallystick migrate'))");
    await db.migrate.forceFreeMigrationsLock(migrationConfig);
    // Makes the tables in which they are noted.
    await db.migrate.currentVersion(migrationConfig);
    await adoptHistory(db);
    const before = await completed(db);
    await untilLocked(() => db.migrate.latest(migrationConfig));
    await storeRange(db, schemaRange);
    return (await completed(db)).slice(before.length);
  });
}

const completed = (db: Database): Promise<string[]> => db(historyTable).pluck('name').orderBy('id');

const [tries, pauseMs] = [60, 1_000];

/** Tries again while somebody has locked what a migration changes: statements of callers come in between. */
async function untilLocked(work: () => Promise<unknown>): Promise<void> {
  for (let left = tries; ; left -= 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (left === 0 || !isOfLocks(error)) throw error;
      await pause(pauseMs);
    }
  }
}

// Not had in time, or a deadlock with a caller.
const isOfLocks = (error: unknown) => ['55P03', '40P01'].includes(errorCode(error) ?? '');

/** What Knex wants to know of the migrations. */
export const migrationConfig = { directory, loadExtensions: ['.ts'], tableName: historyTable };
