import { afterAll, afterEach, describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { isOutage } from '../../src/db/connection/outage.ts';
import { serviceLimits } from '../../src/db/connection/session-limits.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { type Gate, startGate } from '../keys/tcp-gate.ts';
import { test } from '../support/fixtures.ts';
import { openPool } from '../support/open-pool.ts';
import { waitFor } from '../support/wait-for.ts';

let gate: Gate;

test.beforeAll(async ({ db, databaseUrl }) => {
  gate = await startGate(databaseUrl);
  await db.raw('CREATE TABLE rows_of_all (id int PRIMARY KEY, touched int DEFAULT 0)');
  await db.raw('INSERT INTO rows_of_all (id) VALUES (1)');
});
afterEach(() => gate.open());
afterAll(() => gate.close());

const touch = (db: Database) => db.raw('UPDATE rows_of_all SET touched = touched + 1 WHERE id = 1');
const shown = async (db: Database, name: string) => (await db.raw(`SHOW ${name}`)).rows[0][name];

describe('a session', () => {
  test.for([
    ['statement_timeout', '30s'],
    ['lock_timeout', '2s'],
    ['idle_in_transaction_session_timeout', '7s'],
    ['jit', 'off'],
    ['tcp_keepalives_idle', '6'],
    ['tcp_keepalives_interval', '2'],
    ['tcp_keepalives_count', '3'],
    ['tcp_user_timeout', '12000'],
    ['client_connection_check_interval', '10s'],
  ] as const)('has %s of %s', async ([name, value], { databaseUrl }) => {
    const db = openPool(databaseUrl);
    expect(await shown(db, name)).toBe(value);
  });

  test('has the name of its host and process', async ({ databaseUrl }) => {
    const db = openPool(databaseUrl);
    expect(await shown(db, 'application_name')).toMatch(new RegExp(`^tallystick .+:${process.pid}$`));
  });
});

test('who waits for a locked row is refused soon, so that the pool is not full of those who wait', async ({
  db: other,
  databaseUrl,
}) => {
  const db = openPool(databaseUrl, { poolMax: 4, limits: { ...serviceLimits, lockMs: 300 } });
  const holder = await other.transaction();
  await touch(holder);
  const started = performance.now();
  const waiting = await Promise.allSettled(Array.from({ length: 8 }, () => touch(db)));
  expect(performance.now() - started).toBeLessThan(3_000);
  for (const each of waiting) expect(each.status === 'rejected' && isOutage(each.reason)).toBe(true);
  await holder.rollback();
  await touch(db);
});

test('a transaction of a process that vanished is ended by the server, and its locks with it', async ({
  db: other,
  databaseUrl,
}) => {
  const limits = { ...serviceLimits, idleInTransactionMs: 500 };
  const db = openPool(gate.through(databaseUrl), { poolMax: 4, limits });
  const vanished = await db.transaction();
  await touch(vanished);
  await vanished.raw("SELECT pg_advisory_xact_lock(hashtextextended('a key', 0))");
  gate.lose();
  // The test's own pool waits for 2 s at most.
  await touch(other);
  // The server lets locks of rows go a moment before advisory ones: to wait for it, too, is no race.
  await other.raw("SELECT pg_advisory_xact_lock(hashtextextended('a key', 0))");
  await vanished.rollback().catch(() => {});
});

test('a transaction that was idle for too long is an outage, not a fault', async ({ databaseUrl }) => {
  const db = openPool(databaseUrl, { poolMax: 4, limits: { ...serviceLimits, idleInTransactionMs: 100 } });
  const failed = await inTransaction(db, async (tx) => {
    await touch(tx);
    await waitFor(async () => {
      const { rows } = await db.raw("SELECT FROM pg_stat_activity WHERE state = 'idle in transaction'");
      expect(rows).toEqual([]);
    });
    await touch(tx);
  }).catch((error: unknown) => error);
  expect(isOutage(failed)).toBe(true);
});

describe('behind a pooler in transaction mode', () => {
  test('limits are set in each transaction, and nothing stays in the session', async ({ databaseUrl }) => {
    const db = openPool(databaseUrl, { sessionUrl: databaseUrl });
    await inTransaction(db, async (tx) => {
      expect(await shown(tx, 'lock_timeout')).toBe('2s');
      expect(await shown(tx, 'statement_timeout')).toBe('30s');
      expect(await shown(tx, 'idle_in_transaction_session_timeout')).toBe('7s');
    });
    expect(await shown(db, 'lock_timeout')).toBe('0');
  });
});
