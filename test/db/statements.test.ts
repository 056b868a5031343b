import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connect.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { createLogger } from '../../src/log.ts';

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

beforeAll(async () => {
  const name = `extended_${randomUUID().replaceAll('-', '')}`;
  const admin = createDatabase(inject('postgresUrl'), { poolMax: 1, log });
  await admin.raw(`CREATE DATABASE ${name}`);
  await admin.destroy();
  const url = inject('postgresUrl').replace(/postgres$/, name);
  db = withoutTextsOfSeveral(createDatabase(url, { poolMax: 2, log }));
});
afterAll(() => db.destroy());

describe('statements', () => {
  test('that are several in one text are refused here, as by a cluster that passes them on', async () => {
    await expect(db.raw('SELECT 1; SELECT 2')).rejects.toMatchObject({ code: '42601' });
  });

  test('of migrations are sent one by one', async () => {
    expect((await migrateToLatest(db)).length).toBeGreaterThan(0);
  });
});
