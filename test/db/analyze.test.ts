import { expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { prepared } from '../../src/db/connection/prepared.ts';
import { analyzeTables } from '../../src/db/schema/analyze.ts';
import { test } from '../support/fixtures.ts';
import { openPool } from '../support/open-pool.ts';

async function keptPlan(connection: Database): Promise<string> {
  // Of the first five, the server makes plans of their own.
  for (let time = 0; time < 10; time += 1)
    await prepared(connection, 'find_grown', 'SELECT id FROM grown WHERE id = $1', [0]);
  return (await connection.raw('EXPLAIN EXECUTE find_grown (0)')).rows[0]['QUERY PLAN'];
}

test('a prepared statement is replanned after many rows came at once', async ({ db, databaseUrl }) => {
  const connection = openPool(databaseUrl);
  await db.raw('CREATE TABLE grown (id int PRIMARY KEY) WITH (autovacuum_enabled = off)');
  await db.raw('INSERT INTO grown VALUES (0)');
  await db.raw('ANALYZE grown');
  expect(await keptPlan(connection)).toContain('Seq Scan');
  await db.raw('INSERT INTO grown SELECT generate_series(1, 20000)');
  expect(await keptPlan(connection)).toContain('Seq Scan');
  await analyzeTables(db);
  expect(await keptPlan(connection)).toContain('Index Only Scan');
});

test('an empty table is left without statistics', async ({ db }) => {
  await db.raw('CREATE TABLE empty_yet (id int)');
  await analyzeTables(db);
  expect(await db('pg_class').where({ relname: 'empty_yet' }).pluck('reltuples')).toEqual([-1]);
});
