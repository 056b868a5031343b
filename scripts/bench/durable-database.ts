import { createLogger } from '../../src/base/log.ts';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { migrationLimits } from '../../src/db/connection/session-limits.ts';
import { startPostgres } from '../../test/support/postgres.ts';

/** A migrated, empty database in a PostgreSQL of its own. */
export type BenchDatabase = { readonly url: string; readonly db: Database; close(): Promise<void> };

/** Starts PostgreSQL as a server comes: every commit waits for the disk. */
export async function openDurableDatabase(): Promise<BenchDatabase> {
  await using opened = new AsyncDisposableStack();
  const settings = ['fsync=on', 'full_page_writes=on'];
  const { url } = opened.adopt(await startPostgres({ isDurable: true, settings }), (server) =>
    server.close(),
  );
  const options = { poolMax: 4, log: createLogger({ level: 'silent' }), limits: migrationLimits };
  const db = opened.adopt(createDatabase(url, options), (pool) => pool.destroy());
  await prepareDatabase(db);
  const kept = opened.move();
  return { url, db, close: () => kept.disposeAsync() };
}
