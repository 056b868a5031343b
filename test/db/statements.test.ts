import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { migrateToLatest, migrationConfig } from '../../src/db/schema/migrate.ts';

const log = createLogger({ level: 'silent' });
let db: Database;

/** Sends every query of a pool by the extended protocol, whose messages hold one statement each. */
function withoutTextsOfSeveral(pool: Database): Database {
  const acquire: typeof pool.client.acquireRawConnection = pool.client.acquireRawConnection.bind(pool.client);
  pool.client.acquireRawConnection = async () => {
    const connection = await acquire();
    const query = connection.query.bind(connection);
    connection.query = (first: string | { text: string }, ...others: unknown[]) => {
      const wanted = typeof first === 'string' ? { text: first } : first;
      // The one that waits for its turn would keep its snapshot, for which indexes that are built beside writes wait.
      const isTurn = wanted.text.includes('pg_advisory_xact_lock');
      return query({ ...wanted, ...(!isTurn && { queryMode: 'extended' }) }, ...others);
    };
    return connection;
  };
  return pool;
}

async function createEmpty(): Promise<Database> {
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  const admin = createDatabase(inject('postgresUrl'), { poolMax: 1, log });
  await admin.raw(`CREATE DATABASE ${name}`);
  await admin.destroy();
  return createDatabase(inject('postgresUrl').replace(/postgres$/, name), { poolMax: 4, log });
}

beforeAll(async () => {
  db = withoutTextsOfSeveral(await createEmpty());
});
afterAll(() => db.destroy());

describe('statements', () => {
  test('that are several in one text are refused here, as by a cluster that passes them on', async () => {
    await expect(db.raw('SELECT 1; SELECT 2')).rejects.toMatchObject({ code: '42601' });
  });

  test('of migrations are sent one by one', async () => {
    expect((await migrateToLatest(db)).length).toBeGreaterThan(0);
  });

  test('of migrations wait for a table no longer than callers do, and are tried again', async () => {
    const other = await createEmpty();
    try {
      while ((await other.migrate.currentVersion(migrationConfig)) !== '0025')
        await other.migrate.up(migrationConfig);
      const reader = await other.transaction();
      await reader.raw('SELECT FROM networks, rwas, companies');
      const migrated = migrateToLatest(other);
      const waits = new Set<string>();
      while (waits.size < 2) {
        const { rows } = await other.raw(
          `SELECT query_start::text AS since FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE%'`,
        );
        for (const { since } of rows) waits.add(since);
      }
      await reader.commit();
      expect(await migrated).toContain('0026_claim_page.ts');
    } finally {
      await other.destroy();
    }
  });
});
