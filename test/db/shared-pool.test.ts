import { afterEach, describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { inScope, type RequestScope } from '../../src/base/request-scope.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { test } from '../support/fixtures.ts';
import { waitFor } from '../support/wait-for.ts';

const log = createLogger({ level: 'silent' });
const pools: Database[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.destroy();
});

function openPool(url: string, poolMax: number): Database {
  const pool = createDatabase(url, { poolMax, log });
  pools.push(pool);
  return pool;
}

const scope = (tenant: string): RequestScope => ({
  tenant,
  isRead: true,
  signal: new AbortController().signal,
});
const processOf = async (db: Database): Promise<number> =>
  (await db.raw('SELECT pg_backend_pid() AS pid')).rows[0].pid;

describe('a connection', () => {
  test('that is there when its caller has gone begins nothing, and goes back', async ({ databaseUrl }) => {
    const db = openPool(databaseUrl, 1);
    const sent: string[] = [];
    db.on('query', ({ sql }) => sent.push(sql));
    const holder = await db.transaction();
    const caller = new AbortController();
    const asked = inScope({ tenant: 'tenant', isRead: false, signal: caller.signal }, () => processOf(db));
    const refused = expect(asked).rejects.toThrow('gone');
    await waitFor(() => expect(db.client.pool.numPendingAcquires()).toBe(1));
    caller.abort(new Error('gone'));
    await holder.rollback();
    await refused;
    expect(sent.filter((sql) => sql.includes('pg_backend_pid'))).toEqual([]);
    expect(await inScope(scope('tenant'), () => processOf(db))).toBeGreaterThan(0);
    await waitFor(() => expect(db.client.pool.numUsed()).toBe(0));
  });

  test('that was lost goes to nobody', async ({ databaseUrl }) => {
    const db = openPool(databaseUrl, 2);
    const ended = inScope(scope('tenant'), () => db.raw('SELECT pg_terminate_backend(pg_backend_pid())'));
    const next = inScope(scope('tenant'), () => processOf(db));
    await expect(ended).rejects.toThrow();
    expect(await next).toBeGreaterThan(0);
  });
});
