import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { inject } from 'vitest';
import { createDatabase } from '../../src/db/connect.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { createLogger } from '../../src/log.ts';
import { createCitusDatabase } from './citus.ts';

export type TestDatabase = { readonly db: Knex; readonly url: string; close(): Promise<void> };

/** Makes the migrated database of a server that its test databases are cloned from. */
export async function createTemplate(postgresUrl: string): Promise<void> {
  const log = createLogger({ level: 'silent' });
  const admin = createDatabase(postgresUrl, { poolMax: 1, log });
  await admin.raw('CREATE DATABASE tallystick_template');
  await admin.destroy();
  const url = new URL(postgresUrl);
  url.pathname = '/tallystick_template';
  const template = createDatabase(url.href, { poolMax: 2, log });
  await migrateToLatest(template);
  await template.destroy();
}

/**
 * A database of its own, cloned from the migrated template in some 30 ms; with CITUS_URL one in that cluster,
 * over which the index is spread.
 * @param postgresUrl a server with a template; by default the one of the run
 */
export async function createTestDatabase(postgresUrl = inject('postgresUrl')): Promise<TestDatabase> {
  const log = createLogger({ level: 'silent' });
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const clusterUrl = process.env['CITUS_URL'];
  if (clusterUrl !== undefined) return createCitusDatabase(clusterUrl, name);
  const admin = createDatabase(postgresUrl, { poolMax: 1, log });
  // Only one clone of a template may run at a time; the lock makes the others wait their turn.
  await admin.raw('SELECT pg_advisory_lock(1)');
  await admin.raw(`CREATE DATABASE ${name} TEMPLATE tallystick_template STRATEGY FILE_COPY`);
  await admin.destroy();
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  const db = createDatabase(url.href, { poolMax: 20, log });
  return { db, url: url.href, close: () => db.destroy() };
}
