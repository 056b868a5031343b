import { describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { isOutage } from '../../src/db/connection/outage.ts';
import { serviceLimits } from '../../src/db/connection/session-limits.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { startGate } from '../keys/tcp-gate.ts';
import { test as base } from '../support/fixtures.ts';

const log = createLogger({ level: 'silent' });
const statementMs = 1_000;
// A connection is given up 5 s after the server should have ended its statement: in the service, that is after 35 s.
const givenUpMs = statementMs + 5_000;
const mostMs = givenUpMs + 5_000;

// They mostly wait, so they wait together: each has a gate of its own.
const test = base
  .extend('gate', async ({ databaseUrl }, { onCleanup }) => {
    const gate = await startGate(databaseUrl);
    onCleanup(() => gate.close());
    return gate;
  })
  .extend('pool', ({ gate, databaseUrl }, { onCleanup }) => {
    const limits = { ...serviceLimits, statementMs };
    const pool = createDatabase(gate.through(databaseUrl), { poolMax: 4, log, limits });
    onCleanup(async () => {
      await pool.destroy();
      gate.open();
    });
    return pool;
  });

const ask = (db: Database) => db.raw('SELECT 1');
/** Opens three connections. Three statements might share one, and leave two that are still being opened. */
async function openThree(db: Database): Promise<void> {
  const open = await Promise.all([db.transaction(), db.transaction(), db.transaction()]);
  await Promise.all(open.map((tx) => tx.rollback()));
}
/** What the work rejects with, and after how many milliseconds. */
async function failure(work: PromiseLike<unknown>): Promise<{ error: unknown; ms: number }> {
  const started = performance.now();
  const error = await Promise.resolve(work).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, ms: performance.now() - started };
}

describe.concurrent('a connection that was lost in silence', () => {
  test('is given up, and new ones replace all that were opened before', async ({ gate, pool: db }) => {
    await openThree(db);
    gate.lose();
    const { error, ms } = await failure(ask(db));
    expect(isOutage(error)).toBe(true);
    expect(ms).toBeGreaterThanOrEqual(givenUpMs - 100);
    expect(ms).toBeLessThan(mostMs);
    // Those that idle in the pool are lost too, and are not used.
    const next = performance.now();
    await Promise.all([ask(db), ask(db), ask(db)]);
    expect(performance.now() - next).toBeLessThan(givenUpMs);
  });

  test('in a transaction: it rejects, and nothing of it stays', async ({ db: direct, gate, pool: db }) => {
    await direct.raw('CREATE TABLE kept (id int)');
    const { error, ms } = await failure(
      inTransaction(db, async (tx) => {
        await tx.raw('INSERT INTO kept VALUES (1)');
        gate.lose();
        await tx.raw('INSERT INTO kept VALUES (2)');
      }),
    );
    expect(isOutage(error)).toBe(true);
    expect(ms).toBeLessThan(mostMs);
    expect((await db.raw('SELECT count(*)::int FROM kept')).rows).toEqual([{ count: 0 }]);
  });
});

test.concurrent('a database that says nothing at all fails statements, and serves when it is back', async ({
  gate,
  pool: db,
}) => {
  await ask(db);
  gate.freeze();
  for (const work of [ask(db), ask(db)]) {
    const { error, ms } = await failure(work);
    expect(isOutage(error)).toBe(true);
    expect(ms).toBeLessThan(mostMs);
  }
  gate.open();
  // One that is being opened ends with the gate that opens.
  await vi.waitFor(() => ask(db), 5_000);
});

test.concurrent('a statement that its server ends in time fails alone', async ({ pool: db }) => {
  await expect(db.raw('SELECT pg_sleep(30)')).rejects.toMatchObject({ code: '57014' });
  const { rows } = await db.raw('SELECT 1 AS done');
  expect(rows).toEqual([{ done: 1 }]);
});

test.concurrent('a transaction that was left open is not lent again', async ({ pool: db }) => {
  await db.raw('BEGIN');
  const { rows } = await db.raw(
    'SELECT pg_current_xact_id_if_assigned() AS id, now() = statement_timestamp() AS own',
  );
  expect(rows).toEqual([{ id: null, own: true }]);
});
