import type pg from 'pg';
import { afterEach, describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { NamedStatement, runNamed } from '../../src/db/named-statement.ts';
import { createPlanRenewal, type PlanRenewal } from '../../src/db/plan-renewal.ts';
import { test } from '../support/fixtures.ts';
import { connectPipelined } from '../support/pipelined-client.ts';

const opened: pg.Client[] = [];

async function connect(url: string): Promise<pg.Client> {
  const client = await connectPipelined(url);
  opened.push(client);
  return client;
}
afterEach(async () => {
  for (const client of opened.splice(0)) await client.end();
});

const findSql = 'SELECT id FROM grown WHERE id = $1';

test.beforeEach(async ({ db }) => {
  await db.raw('DROP TABLE IF EXISTS grown');
  // Nothing but its size says that there are more rows than at first.
  await db.raw('CREATE TABLE grown (id int PRIMARY KEY) WITH (autovacuum_enabled = off)');
  await db.raw('INSERT INTO grown VALUES (0)');
  await db.raw('ANALYZE grown');
});

const grow = (db: Database) => db.raw('INSERT INTO grown SELECT generate_series(1, 20000)');

/** Finds a row so many times; of the first five, the server makes plans of their own. */
async function find(client: pg.Client, renewal: PlanRenewal, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    renewal.beforeStatement(client);
    await runNamed(client, new NamedStatement('find_grown', findSql, [0]));
  }
}

async function keptPlan(client: pg.Client): Promise<string> {
  const { rows } = await client.query('EXPLAIN EXECUTE find_grown (0)');
  return rows[0]['QUERY PLAN'];
}

describe('the plan of a named statement', () => {
  test('is made anew on every connection when the table has grown', async ({ db, databaseUrl }) => {
    let now = 0;
    const renewal = createPlanRenewal({ db: () => db, now: () => now });
    const clients = [await connect(databaseUrl), await connect(databaseUrl)] as const;
    for (const client of clients) {
      await find(client, renewal, 10);
      expect(await keptPlan(client)).toContain('Seq Scan');
    }
    await grow(db);
    await find(clients[0], renewal, 600);
    // Not even looked at within a second.
    for (const client of clients) expect(await keptPlan(client)).toContain('Seq Scan');
    now += 2_000;
    await find(clients[0], renewal, 600);
    for (const client of clients) {
      await find(client, renewal, 1);
      expect(await keptPlan(client)).toContain('Index Only Scan');
    }
  });

  test('stays while tables grow little', async ({ db, databaseUrl }) => {
    let now = 2_000;
    const renewal = createPlanRenewal({ db: () => db, now: () => now });
    const client = await connect(databaseUrl);
    const sent: string[] = [];
    const query = client.query.bind(client);
    Object.assign(client, {
      query(first: unknown, ...others: never[]) {
        if (typeof first === 'string') sent.push(first);
        return query(first as never, ...others);
      },
    });
    for (let look = 0; look < 3; look += 1) {
      now += 2_000;
      await db.raw('INSERT INTO grown SELECT generate_series(1 + ? * 500, 500 + ? * 500)', [look, look]);
      await find(client, renewal, 600);
    }
    expect(sent).toEqual([]);
  });

  test('is no matter to a transaction that has failed', async ({ db, databaseUrl }) => {
    let now = 2_000;
    const renewal = createPlanRenewal({ db: () => db, now: () => now });
    const client = await connect(databaseUrl);
    await find(client, renewal, 10);
    await find(await connect(databaseUrl), renewal, 600);
    now += 2_000;
    await client.query('BEGIN');
    await client.query('SELECT 1 / 0').catch(() => {});
    await expect(find(client, renewal, 1)).rejects.toMatchObject({ code: '25P02' });
    await client.query('ROLLBACK');
    await find(client, renewal, 1);
  });

  test('is made anew in transactions that only read as well', async ({ db, databaseUrl }) => {
    let now = 2_000;
    const renewal = createPlanRenewal({ db: () => db, now: () => now });
    const client = await connect(databaseUrl);
    await find(client, renewal, 600);
    await grow(db);
    now += 2_000;
    await client.query('BEGIN READ ONLY');
    await find(client, renewal, 600);
    expect(await keptPlan(client)).toContain('Index Only Scan');
    await client.query('COMMIT');
  });
});
