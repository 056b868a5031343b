import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, inject } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { commandLine, settingsFor } from '../cli/command-line.ts';
import { type TestDatabase, users } from '../support/database.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { openPool } from '../support/open-pool.ts';
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { startServiceOn } from '../support/service.ts';

const odd = {
  DateStyle: 'SQL, DMY',
  // Its times are written as IST, which is read as the time of Israel.
  TimeZone: 'Asia/Kolkata',
  IntervalStyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-5',
};

const test = base
  .extend('odd', perFile, async ({ database }) => {
    const name = new URL(database.url).pathname.slice(1);
    for (const [setting, value] of Object.entries(odd))
      await database.db.raw(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
    return database;
  })
  .extend('bouncer', perFile, async ({ odd }, { onCleanup }) => {
    const bouncer = await startPgbouncer(odd.url, users);
    onCleanup(() => bouncer.close());
    return bouncer;
  });

const moment = '2026-03-04T05:06:07.089Z';
const readAll = async (db: Database) =>
  (
    await db.raw(
      `SELECT ?::timestamptz AS read, ?::timestamptz::text AS written, '\\x00ff'::bytea::text AS bytes,
         interval '1 day -02:03'::text AS span, 0.1234567890123456::float8 AS fraction`,
      [new Date(moment), moment],
    )
  ).rows[0];
const expected = {
  read: new Date(moment),
  written: '2026-03-04 05:06:07.089+00',
  bytes: '\\x00ff',
  span: '1 day -02:03:00',
  fraction: 0.1234567890123456,
};

async function answersAsGiven(database: TestDatabase, settings: Record<string, string>) {
  const service = await startServiceOn(database, { settings });
  const acme = service.as(service.keys.acme);
  const event = {
    name: 'Tasting',
    startDate: '2026-03-04T05:06:07.000Z',
    endDate: '2026-12-11T00:00:00.000Z',
  };
  const { body } = await acme.post('/events/v1/api/event').send(event).expect(201);
  const { body: read } = await acme.get(`/events/v1/api/event/${body.id}`).expect(200);
  expect(read).toMatchObject(event);
  await service.close();
}

describe('over a database with formats of its own', () => {
  test('everything is read as it was written', async ({ odd }) => {
    const db = openPool(odd.url);
    expect(await readAll(db)).toEqual(expected);
    expect(await inTransaction(db, readAll)).toEqual(expected);
  });

  test('the service answers with the times that it was given', ({ odd }) => answersAsGiven(odd, {}));
});

describe.skipIf(!hasPgbouncer)('over such a database, behind PgBouncer', () => {
  test('times are read as they were written, and everything is in a transaction', async ({
    odd,
    bouncer,
  }) => {
    const db = openPool(bouncer.through(odd.url), { poolMax: 4, sessionUrl: odd.url });
    // Plain statements have different sessions of the server.
    const plain = await Promise.all(Array.from({ length: 40 }, () => readAll(db)));
    for (const { read, written } of plain)
      expect({ read, written }).toEqual({ read: expected.read, written: expected.written });
    expect(await inTransaction(db, readAll)).toEqual(expected);
  });

  test('the service answers with the times that it was given', async ({ odd, bouncer }) => {
    await odd.db.raw('TRUNCATE networks, companies, mint_lanes CASCADE');
    const url = bouncer.through(odd.url);
    await answersAsGiven({ ...odd, url }, { DATABASE_SESSION_URL: odd.url });
  });

  test('other clients of the pooler have the formats of the database', async ({ odd, bouncer }) => {
    const db = openPool(bouncer.through(odd.url), { poolMax: 4, sessionUrl: odd.url });
    await Promise.all(Array.from({ length: 20 }, () => inTransaction(db, readAll)));
    const other = new pg.Client({ connectionString: bouncer.through(odd.url) });
    await other.connect();
    const { rows } = await other.query("SELECT current_setting('DateStyle') AS style");
    expect(rows).toEqual([{ style: 'SQL, DMY' }]);
    await other.end();
  });
});

describe('a database that texts cannot be stored in is rejected by name', () => {
  test.for([
    [
      'has another encoding',
      "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'",
      '',
      /"odd_\w+" has the encoding LATIN1.*ENCODING 'UTF8'$/,
    ],
    [
      'has no encoding',
      "TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'",
      '',
      /has the encoding SQL_ASCII/,
    ],
    [
      'reads backslashes',
      '',
      'SET standard_conforming_strings = off',
      /standard_conforming_strings = off\. Run there: ALTER DATABASE "odd_\w+" SET standard_conforming_strings = on/,
    ],
  ] as const)('that %s', async ([, made, changed, message]) => {
    const name = `odd_${randomUUID().replaceAll('-', '')}`;
    const admin = openPool(inject('postgresUrl'));
    await admin.raw(`CREATE DATABASE ${name} ${made}`);
    if (changed !== '') await admin.raw(`ALTER DATABASE ${name} ${changed}`);
    const cli = commandLine(settingsFor(inject('postgresUrl').replace(/postgres$/, name)));
    const migrated = await cli.json('migrate');
    expect(migrated).toMatchObject({
      status: 1,
      value: undefined,
      error: { message: expect.stringMatching(message) },
    });
    const { status, value } = await cli.json('doctor');
    expect(status).toBe(1);
    expect(value).toContainEqual({
      check: 'database',
      state: 'FAULT',
      detail: expect.stringMatching(message),
    });
    const db = openPool(inject('postgresUrl').replace(/postgres$/, name));
    expect(await db('pg_tables').where({ schemaname: 'public' }).pluck('tablename')).toEqual([]);
    await db.destroy();
    await admin.raw(`DROP DATABASE ${name}`);
  });
});
