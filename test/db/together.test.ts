import { describe, expect } from 'vitest';
import type { Tx } from '../../src/contract/transaction.ts';
import { prepared } from '../../src/db/connection/prepared.ts';
import { together } from '../../src/db/connection/together.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { startGate } from '../keys/tcp-gate.ts';
import { closing } from '../support/closing.ts';
import { test } from '../support/fixtures.ts';
import { openPool } from '../support/open-pool.ts';

const value = async (tx: Tx, sql: string) =>
  (await prepared<{ v: number }>(tx, `v ${sql}`, sql, [])).rows[0]?.v;

describe('statements of a transaction that are sent together', () => {
  test('do not wait for each other, and are answered in their order', async ({ db, databaseUrl }) => {
    const holder = await db.transaction();
    await holder.raw('SELECT pg_advisory_xact_lock(7)');
    // The first one goes on when the last one was sent.
    const proxy = closing(
      await startGate(databaseUrl, () => (chunk) => {
        if (chunk.includes('SELECT 3 AS v')) void holder.rollback();
      }),
    );
    const pool = openPool(proxy.through(databaseUrl));
    const found = await inTransaction(pool, (tx) =>
      together([
        value(tx, 'SELECT 1 AS v FROM pg_advisory_xact_lock(7)'),
        value(tx, 'SELECT 2 AS v'),
        tx.raw('SELECT 3 AS v').then(({ rows }) => rows[0].v as number),
      ]),
    );
    expect(found).toEqual([1, 2, 3]);
  });

  test('fail with the error of the first that fails; nothing stays, and the connection is as good as before', async ({
    db,
  }) => {
    await db.raw('CREATE TABLE kept (v int)');
    const later = 'SELECT 4 AS v';
    const insert = (tx: Tx) => prepared(tx, 'insert kept', 'INSERT INTO kept VALUES (1)', []);
    const failed = inTransaction(db, (tx) =>
      together([insert(tx), value(tx, 'SELECT 1 / 0 AS v'), value(tx, later), insert(tx)]),
    );
    await expect(failed).rejects.toThrow('division by zero');
    expect((await db('kept')).length).toBe(0);
    // Of the names that were refused with the transaction, none is taken for known.
    await Promise.all(
      [1, 2, 3, 4].map(() => inTransaction(db, async (tx) => expect(await value(tx, later)).toBe(4))),
    );
  });

  test('fail with the error of the one that failed, where another that begins first is sent after it', async ({
    db,
  }) => {
    const failed = inTransaction(db, (tx) =>
      together([Promise.resolve().then(() => value(tx, 'SELECT 1 AS v')), value(tx, 'SELECT 1 / 0 AS v')]),
    );
    await expect(failed).rejects.toThrow('division by zero');
  });
});
