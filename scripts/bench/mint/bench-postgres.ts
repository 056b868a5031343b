import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { createLogger } from '../../../src/base/log.ts';
import { prepareDatabase } from '../../../src/compose/migrate.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { createDatabase } from '../../../src/db/connection/connect.ts';
import { firstFreePort } from '../../../src/local/programs/ports.ts';
import { startPostgresServer } from '../../../src/local/programs/postgres.ts';
import { findPostgresPlace, removePostgresPlace } from '../../../src/local/programs/postgres-place.ts';

export type BenchDatabase = {
  /** For the service's processes: a role of their own, so that their statements can be distinguished. */
  readonly url: string;
  readonly name: string;
  /** For the bench itself. */
  readonly db: Database;
};

export type BenchPostgres = {
  /** A migrated database. */
  createDatabase(): Promise<BenchDatabase>;
  close(): Promise<void>;
};

// As it comes: every commit waits for the disk. Only the counting of statements is added.
const settings = ['shared_preload_libraries=pg_stat_statements', 'max_connections=200'];
export const serviceRole = 'service';

/** A PostgreSQL of its own in the folder. */
export async function startBenchPostgres(folder: string): Promise<BenchPostgres> {
  // As root the server runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  const wanted = path.join(folder, 'postgres');
  const server = await startPostgresServer({
    place: findPostgresPlace(wanted),
    port: await firstFreePort(25_432),
    password: 'bench',
    settings,
    logFile: path.join(folder, 'postgres.log'),
  });
  const log = createLogger({ level: 'silent' });
  const admin = createDatabase(server.url, { poolMax: 2, log });
  await admin.raw('CREATE EXTENSION pg_stat_statements');
  await admin.raw(`CREATE ROLE ${serviceRole} SUPERUSER LOGIN PASSWORD 'bench'`);
  const opened: Database[] = [];
  return {
    async createDatabase() {
      const name = `bench_${randomUUID().slice(0, 8)}`;
      await admin.raw(`CREATE DATABASE ${name}`);
      const own = new URL(server.url);
      own.pathname = `/${name}`;
      const db = createDatabase(own.href, { poolMax: 4, log });
      opened.push(db);
      await prepareDatabase(db);
      await db.raw('CREATE EXTENSION pg_stat_statements');
      const services = new URL(own.href);
      services.username = serviceRole;
      return { url: services.href, name, db };
    },
    async close() {
      for (const db of opened) await db.destroy();
      await admin.destroy();
      await server.stop();
      removePostgresPlace(wanted);
    },
  };
}
