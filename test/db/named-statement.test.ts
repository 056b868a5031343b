import pg from 'pg';
import { afterEach, describe, expect } from 'vitest';
import { NamedStatement, runNamed } from '../../src/db/named-statement.ts';
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

const ask = (client: pg.Client, name: string, text: string, values: unknown[] = []) =>
  runNamed(client, new NamedStatement(name, text, values));

const everyType = `SELECT $1::int AS "int", 9007199254740993::bigint AS "bigint", 1.50::numeric AS "numeric", true AS "bool",
  'née'::text AS "text", NULL::text AS "none", '\\x00ff'::bytea AS "bytes", '{a,b}'::text[] AS "list", '{"a":[1]}'::jsonb AS "json",
  '2026-11-22T10:00:00.123Z'::timestamptz AS "time" FROM generate_series(1, $2::int)`;

describe('a named statement', () => {
  test('has the rows that the driver has, the first time and later', async ({ databaseUrl }) => {
    const client = await connect(databaseUrl);
    const { rows, rowCount } = await client.query(everyType, [7, 2]);
    for (let time = 0; time < 3; time += 1) {
      const found = await ask(client, 'every_type', everyType, [7, 2]);
      expect([found.rows, found.rowCount]).toEqual([rows, rowCount]);
      expect(Object.keys(found.rows[0] ?? {})).toEqual(Object.keys(rows[0]));
    }
  });

  test('does not ask for its columns again', async ({ databaseUrl }) => {
    const client = await connect(databaseUrl);
    let described = 0;
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter }; // not in the driver's types
    connection.on('rowDescription', () => {
      described += 1;
    });
    for (const value of [1, 2, 3]) {
      const { rows } = await ask(client, 'one_value', 'SELECT $1::int AS value', [value]);
      expect(rows).toEqual([{ value }]);
    }
    expect(described).toBe(1);
  });

  test('gives rows of their own to statements that are sent together', async ({ databaseUrl }) => {
    const client = await connect(databaseUrl);
    const texts = { first: 'SELECT $1::int AS a', second: 'SELECT $1::text AS b, 1 AS c' };
    for (let time = 0; time < 2; time += 1) {
      const found = await Promise.all([
        ask(client, 'first', texts.first, [1]),
        ask(client, 'second', texts.second, ['x']),
        ask(client, 'first', texts.first, [2]),
      ]);
      expect(found.map(({ rows }) => rows)).toEqual([[{ a: 1 }], [{ b: 'x', c: 1 }], [{ a: 2 }]]);
    }
  });

  test('without rows tells how many it has changed', async ({ databaseUrl }) => {
    const client = await connect(databaseUrl);
    await client.query('CREATE TEMP TABLE kept (id int)');
    for (const id of [1, 2]) {
      const { rows, rowCount } = await ask(client, 'put', 'INSERT INTO kept VALUES ($1)', [id]);
      expect([rows, rowCount]).toEqual([[], 1]);
    }
    expect((await ask(client, 'all', 'SELECT id FROM kept ORDER BY id')).rows).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
  });

  test('is refused when its table has got other columns, and the connection goes on', async ({
    databaseUrl,
  }) => {
    const client = await connect(databaseUrl);
    await client.query('CREATE TEMP TABLE changing AS SELECT 1 AS id');
    const all = () => ask(client, 'changing', 'SELECT * FROM changing');
    expect((await all()).rows).toEqual([{ id: 1 }]);
    await client.query('ALTER TABLE changing ADD COLUMN other text');
    await expect(all()).rejects.toMatchObject({ code: '0A000' });
    expect((await ask(client, 'id', 'SELECT id FROM changing')).rows).toEqual([{ id: 1 }]);
  });

  test('fails alone when the server or a value does not agree', async ({ databaseUrl }) => {
    const client = await connect(databaseUrl);
    const half = () => ask(client, 'half', 'SELECT 1 / $1::int AS half', [0]);
    await expect(half()).rejects.toMatchObject({ code: '22012' });
    await expect(half()).rejects.toMatchObject({ code: '22012' });
    const { getTypeParser } = pg.types;
    const [one] = (await ask(client, 'json', `SELECT $1::jsonb AS json`, ['{"a":1}'])).rows;
    expect(one).toEqual({ json: getTypeParser(3802)('{"a":1}') });
  });

  test('is refused for another text under its name', async ({ databaseUrl }) => {
    const client = await connect(databaseUrl);
    await ask(client, 'same', 'SELECT 1 AS a');
    await expect(ask(client, 'same', 'SELECT 2 AS a')).rejects.toThrow('must be unique');
    expect((await ask(client, 'same', 'SELECT 1 AS a')).rows).toEqual([{ a: 1 }]);
  });

  test('ends with its connection', async ({ databaseUrl }) => {
    const client = await connect(databaseUrl);
    client.on('error', () => {});
    // Waited for at once: it may fail before the other connection has its answer.
    const ended = expect(ask(client, 'sleep', 'SELECT pg_sleep(60)')).rejects.toMatchObject({
      code: '57P01',
    });
    const other = await connect(databaseUrl);
    const end = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
      WHERE query = 'SELECT pg_sleep(60)' AND state = 'active' AND datname = current_database()`;
    await expect.poll(async () => (await other.query(end)).rows).toEqual([{ ended: true }]);
    await ended;
  });
});
