import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { inject } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { serviceLimits, wholeLimits } from '../../src/db/connection/session-limits.ts';
import { type DatabaseRole, groupOf } from '../../src/db/schema/role-rights.ts';
import { revokeTemporary } from '../../src/db/schema/role-store.ts';
import { createCitusDatabase } from './citus.ts';

export type TestDatabase = { readonly db: Knex; readonly url: string; close(): Promise<void> };

const groupsOf = (...roles: readonly DatabaseRole[]) => roles.map(groupOf);
/** Users of the server of tests, with the groups that they belong to. */
const logins = {
  test_api: groupsOf('api'),
  test_worker: groupsOf('worker'),
  test_indexer: groupsOf('indexer'),
  test_operator: groupsOf('operator'),
  /** Of a service that mints as well. */
  test_minting: groupsOf('api', 'worker'),
  /** Of a service that indexes as well. */
  test_indexing: groupsOf('api', 'indexer'),
};
const password = 'few-rights';

export type Login = keyof typeof logins;

/** Names and passwords, as a pooler wants to know them. */
export const users = Object.keys(logins).map((name) => [name, password] as const);

/** The same database by a user with few rights. In a cluster everybody is the owner. */
export function asUser(databaseUrl: string, user: Login): string {
  if (process.env['CITUS_URL'] !== undefined) return databaseUrl;
  const url = new URL(databaseUrl);
  [url.username, url.password] = [user, password];
  return url.href;
}

/** Creates the migrated database from which the test databases of a server are cloned. */
export async function createTemplate(postgresUrl: string): Promise<void> {
  const log = createLogger({ level: 'silent' });
  const admin = createDatabase(postgresUrl, { poolMax: 1, log });
  await admin.raw('CREATE DATABASE tallystick_template');
  await admin.destroy();
  const url = new URL(postgresUrl);
  url.pathname = '/tallystick_template';
  const template = createDatabase(url.href, { poolMax: 2, log });
  await prepareDatabase(template);
  for (const [user, groups] of Object.entries(logins)) {
    await template.raw(`CREATE ROLE ${user} LOGIN PASSWORD '${password}' IN ROLE ${groups.join(', ')}`);
  }
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
  // PostgreSQL allows one clone of a template at a time; with the lock, the others wait, however long that takes.
  const limits = { statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };
  const admin = createDatabase(postgresUrl, { poolMax: 1, log, limits });
  await admin.raw('SELECT pg_advisory_lock(1)');
  await admin.raw(`CREATE DATABASE ${name} TEMPLATE tallystick_template STRATEGY FILE_COPY`);
  await admin.destroy();
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  // Tests fill tables by one statement, which takes its time beside other work.
  const db = createDatabase(url.href, {
    poolMax: 20,
    log,
    limits: { ...serviceLimits, statementMs: wholeLimits.statementMs },
  });
  // The rights on a database are not cloned with it.
  await revokeTemporary(db);
  return { db, url: url.href, close: () => db.destroy() };
}
