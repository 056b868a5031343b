import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { inject } from 'vitest';
import { createDatabase } from '../../src/db/connect.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { createLogger } from '../../src/log.ts';
import { createCitusDatabase } from './citus.ts';

export type TestDatabase = { readonly db: Knex; readonly url: string; close(): Promise<void> };

/** Creates the migrated database from which the test databases of a server are cloned. */
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
 * Clones a database from the migrated template, which takes about 30 ms. With CITUS_URL, creates one in that
 * cluster instead and distributes the index over its workers.
 * @param postgresUrl the URL of a server that has a template; default: the server of the test run
 */
export async function createTestDatabase(postgresUrl = inject('postgresUrl')): Promise<TestDatabase> {
  const log = createLogger({ level: 'silent' });
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const clusterUrl = process.env['CITUS_URL'];
  if (clusterUrl !== undefined) return createCitusDatabase(clusterUrl, name);
  const admin = createDatabase(postgresUrl, { poolMax: 1, log });
  // PostgreSQL allows one clone of a template at a time; with the lock, the others wait.
  await admin.raw('SELECT pg_advisory_lock(1)');
  await admin.raw(`CREATE DATABASE ${name} TEMPLATE tallystick_template STRATEGY FILE_COPY`);
  await admin.destroy();
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  const db = createDatabase(url.href, { poolMax: 20, log });
  return { db, url: url.href, close: () => db.destroy() };
}
