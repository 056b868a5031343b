import { describe, expect } from 'vitest';
import { prepared } from '../../src/db/connection/prepared.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { test } from '../support/fixtures.ts';
import { openPool } from '../support/open-pool.ts';

const namesOf = "SELECT name FROM pg_prepared_statements WHERE name = 'any_text'";
const text = `SELECT $1::text AS "text", '{"a?":1}'::jsonb ? 'a?' AS has`;

describe('a prepared statement', () => {
  test('is kept by its connection under its name, and may have question marks', async ({ databaseUrl }) => {
    const db = openPool(databaseUrl);
    for (const value of ['née', '?'])
      expect(await prepared(db, 'any_text', text, [value])).toEqual({
        rows: [{ text: value, has: true }],
        rowCount: 1,
      });
    expect((await db.raw(namesOf)).rows).toEqual([{ name: 'any_text' }]);
  });

  test('is kept nowhere where a pooler lends the sessions', async ({ databaseUrl }) => {
    const db = openPool(databaseUrl, { sessionUrl: databaseUrl });
    await prepared(db, 'any_text', text, ['a']);
    expect((await db.raw(namesOf)).rows).toEqual([]);
  });

  test('reports how many rows it changed, and nothing of it stays after its transaction failed', async ({
    db,
  }) => {
    await db.raw('CREATE TABLE counted (id int PRIMARY KEY)');
    const add = (on: typeof db) => prepared(on, 'add', 'INSERT INTO counted VALUES ($1)', [1]);
    expect(await add(db)).toEqual({ rows: [], rowCount: 1 });
    const failed = inTransaction(db, async (tx) => {
      await prepared(tx, 'change', 'UPDATE counted SET id = $1', [2]);
      await prepared(tx, 'half', 'SELECT 1 / $1::int', [0]);
    });
    await expect(failed).rejects.toMatchObject({ code: '22012' });
    expect(await db('counted').pluck('id')).toEqual([1]);
  });
});
