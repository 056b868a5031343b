import type { ClientBase } from 'pg';
import { describe, expect, vi } from 'vitest';
import type { Tx } from '../../src/contract/transaction.ts';
import { prepared } from '../../src/db/prepared.ts';
import { together } from '../../src/db/together.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { test } from '../support/fixtures.ts';

const value = async (tx: Tx, sql: string) =>
  (await prepared<{ v: number }>(tx, `v ${sql}`, sql, [])).rows[0]?.v;

describe('statements of a transaction that are sent together', () => {
  test('leave in one packet, and are answered in their order', async ({ db }) => {
    await inTransaction(db, async (tx) => {
      const client = (await tx.client.acquireConnection()) as ClientBase & {
        connection: { stream: { _writev: () => void; _write: () => void } };
      };
      const { stream } = client.connection;
      const packets = vi.spyOn(stream, '_writev');
      const single = vi.spyOn(stream, '_write');
      const found = await together(tx, () => [
        value(tx, 'SELECT 1 AS v'),
        value(tx, 'SELECT 2 AS v'),
        tx.raw('SELECT 3 AS v').then(({ rows }) => rows[0].v as number),
      ]);
      expect(found).toEqual([1, 2, 3]);
      expect([packets.mock.calls.length, single.mock.calls.length]).toEqual([1, 0]);
      vi.restoreAllMocks();
    });
  });

  test('fail with the error of the first that fails; nothing stays, and the connection is as good as before', async ({
    db,
  }) => {
    await db.raw('CREATE TABLE kept (v int)');
    const later = 'SELECT 4 AS v';
    const insert = (tx: Tx) => prepared(tx, 'insert kept', 'INSERT INTO kept VALUES (1)', []);
    const failed = inTransaction(db, (tx) =>
      together(tx, () => [insert(tx), value(tx, 'SELECT 1 / 0 AS v'), value(tx, later), insert(tx)]),
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
      together(tx, () => [
        Promise.resolve().then(() => value(tx, 'SELECT 1 AS v')),
        value(tx, 'SELECT 1 / 0 AS v'),
      ]),
    );
    await expect(failed).rejects.toThrow('division by zero');
  });
});
