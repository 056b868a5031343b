import { createLogger } from '../base/log.ts';
import type { Database } from '../contract/transaction.ts';
import { analyzeTables } from '../db/schema/analyze.ts';
import { inspectDatabase } from '../db/schema/inspect.ts';
import { migrateToLatest } from '../db/schema/migrate.ts';
import { grantRoleRights, revokeTemporary } from '../db/schema/role-store.ts';
import { assertInRange } from '../db/schema/schema-check.ts';
import { createJobQueue } from '../jobs/queue.ts';
import { jobQueues } from './job-queues.ts';

type Migration = {
  /** Names of the migrations that were run. */
  readonly run: readonly string[];
  /** Groups of database users that the user of this connection may not create. */
  readonly missingGroups: readonly string[];
  /** Takes the right to make temporary tables from everybody, where the user of this connection may not. */
  readonly statementForOwner: string | undefined;
};

/**
 * Brings schema, job queues and the rights of the roles to what this release needs, and updates the server's statistics,
 * which a restored database lacks; safe to run again.
 * @param onMigrated called with the migrations, if any, before the rest, which may be cut off
 * @throws SchemaError when this release cannot work with the schema that is there
 */
export async function prepareDatabase(
  db: Database,
  onMigrated?: (migrations: readonly string[]) => Promise<void>,
): Promise<Migration> {
  assertInRange(await inspectDatabase(db));
  const run = await migrateToLatest(db);
  if (run.length > 0) await onMigrated?.(run);
  const log = createLogger({ level: 'silent' });
  const jobs = createJobQueue({ db, queues: jobQueues, works: false, log });
  await jobs.open();
  await jobs.stop(0);
  const missingGroups = await grantRoleRights(db);
  const statementForOwner = await revokeTemporary(db);
  await analyzeTables(db);
  return { run, missingGroups, statementForOwner };
}
