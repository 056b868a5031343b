import { randomUUID } from 'node:crypto';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';

export type Backup = {
  /** Puts the database back to what it was; who is connected is cut off, and may connect again. */
  restore(): Promise<void>;
};

/** Copies a database as it is, while services use it: they are cut off for a moment. */
export async function backUp(databaseUrl: string): Promise<Backup> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const copy = `backup_${randomUUID().replaceAll('-', '')}`;
  await copyDatabase(databaseUrl, name, copy, async () => {});
  return {
    restore: () =>
      copyDatabase(databaseUrl, copy, name, (run) => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

type Run = (sql: string) => Promise<unknown>;

async function copyDatabase(
  url: string,
  from: string,
  to: string,
  prepare: (run: Run) => Promise<unknown>,
): Promise<void> {
  const server = new URL(url);
  server.pathname = '/postgres';
  const admin = createDatabase(server.href, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  const run: Run = (sql) => admin.raw(sql);
  // Nobody may be connected to what is copied; services try again at once.
  await run(`ALTER DATABASE ${from} ALLOW_CONNECTIONS false`);
  await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}'`);
  await prepare(run);
  await run(`CREATE DATABASE ${to} TEMPLATE ${from} STRATEGY FILE_COPY`);
  await run(`ALTER DATABASE ${from} ALLOW_CONNECTIONS true`);
  await admin.destroy();
}
