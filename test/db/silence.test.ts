import { describe, expect, vi } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connect.ts';
import { isOutage } from '../../src/db/outage.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { createLogger } from '../../src/log.ts';
import { startGate } from '../keys/tcp-gate.ts';
import { test as base } from '../support/fixtures.ts';
import { startServiceOn } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

const log = createLogger({ level: 'silent' });

// They mostly wait, so they wait together: each has a gate of its own.
const test = base
  .extend('gate', async ({ databaseUrl }, { onCleanup }) => {
    const gate = await startGate(databaseUrl);
    onCleanup(() => gate.close());
    return gate;
  })
  .extend('pool', ({ gate, databaseUrl }, { onCleanup }) => {
    const pool = createDatabase(gate.through(databaseUrl), { poolMax: 4, log });
    onCleanup(async () => {
      await pool.destroy();
      gate.open();
    });
    return pool;
  });

const ask = (db: Database) => db.raw('SELECT 1');
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
  test('is noticed within 10 s, and new ones take its place', async ({ gate, pool: db }) => {
    await Promise.all([ask(db), ask(db), ask(db)]);
    gate.lose();
    const { error, ms } = await failure(ask(db));
    expect(isOutage(error)).toBe(true);
    expect(ms).toBeLessThan(10_000);
    // Those that idle in the pool are lost too, and are not used.
    const next = performance.now();
    await Promise.all([ask(db), ask(db), ask(db)]);
    expect(performance.now() - next).toBeLessThan(2_000);
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
    expect(ms).toBeLessThan(10_000);
    expect((await db.raw('SELECT count(*)::int FROM kept')).rows).toEqual([{ count: 0 }]);
  });
});

describe.concurrent('a database that says nothing at all', () => {
  test('fails statements within 10 s, and serves when it is back', async ({ gate, pool: db }) => {
    await ask(db);
    gate.freeze();
    for (const work of [ask(db), ask(db)]) {
      const { error, ms } = await failure(work);
      expect(isOutage(error)).toBe(true);
      expect(ms).toBeLessThan(10_000);
    }
    gate.open();
    // One that is being opened ends with the gate that opens.
    await waitFor(() => ask(db));
  });

  test('is answered with 503, and told to come again', async ({ database, databaseUrl, gate }) => {
    const service = await startServiceOn({ ...database, url: gate.through(databaseUrl) }, {});
    const acme = service.as(service.keys.acme);
    await acme.get('/v1/api/rwa').expect(200);
    gate.lose();
    const started = performance.now();
    const { headers } = await acme.get('/v1/api/rwa').expect(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(12_000);
    // Another connection may have been lost, too.
    const timeout = started + 15_000 - performance.now();
    await vi.waitFor(() => acme.get('/v1/api/rwa').expect(200), { timeout });
    gate.open();
    await service.close();
  });
});

test.concurrent('a statement that takes its time is left alone', async ({ pool: db }) => {
  const { rows } = await db.raw('SELECT 1 AS done FROM pg_sleep(7)');
  expect(rows).toEqual([{ done: 1 }]);
});
