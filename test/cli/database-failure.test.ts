import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { freePort } from '../support/postgres.ts';
import { commandLine, settingsFor } from './command-line.ts';

const role = `role_${randomUUID().replaceAll('-', '')}`;
test.beforeAll(({ db }) => db.raw(`CREATE ROLE ${role} LOGIN PASSWORD 'pass-word'`));
test.afterAll(({ db }) => db.raw(`DROP ROLE ${role}`));

const nobody = `127.0.0.1:${await freePort()}`;

/** The title, what it does to the URL of a database that works, and what is told. */
const faults: [string, (url: URL) => void, (good: URL) => string][] = [
  [
    'does not answer',
    (url) => {
      url.host = nobody;
      url.password = 'pass-word';
    },
    () => `PostgreSQL at ${nobody} cannot be reached`,
  ],
  [
    'has a name that nobody knows',
    (url) => {
      url.href = 'postgres://me:pass-word@nowhere.invalid/db';
    },
    () => 'PostgreSQL at nowhere.invalid cannot be reached',
  ],
  [
    'refuses the password',
    (url) => {
      url.password = 'wrong-pass-word';
    },
    ({ host, username }) =>
      `PostgreSQL at ${host} rejects user "${username}". Check user and password in DATABASE_URL.`,
  ],
  [
    'lacks the database',
    (url) => {
      url.pathname = '/nothing';
    },
    ({ host }) => `PostgreSQL at ${host} has no database "nothing". Create it, or correct DATABASE_URL.`,
  ],
  [
    'gives the user no rights',
    (url) => {
      url.username = role;
      url.password = 'pass-word';
    },
    () => `User "${role}" lacks a right in the database: permission denied for table schema_history.`,
  ],
  [
    'only reads',
    (url) => url.searchParams.set('options', '-c default_transaction_read_only=on'),
    ({ host }) => `PostgreSQL at ${host} only reads: name its primary in DATABASE_URL.`,
  ],
];

describe('a database that', () => {
  test.for(faults)(
    '%s is told with what to mend, without the password',
    async ([_, change, message], { databaseUrl }) => {
      const url = new URL(databaseUrl);
      change(url);
      const { status, value, error } = await commandLine(settingsFor(url.href)).json(
        ...['company', 'create', 'acme'],
      );
      expect({ status, value }).toEqual({ status: 1, value: undefined });
      expect(error?.message).toContain(message(new URL(databaseUrl)));
      expect(error?.message).not.toMatch(/pass-word|insert into/);
    },
  );

  test('belongs to the local service is told with how to start that', async () => {
    const { error } = await commandLine(settingsFor(`postgres://me:pass-word@${nobody}/db`)).json(
      ...['company', 'list', '--local'],
    );
    expect(error?.message).toMatch(/cannot be reached .*\. Start the local service first: npm start$/);
  });

  test('fails in the middle is told without the statement and its values', async ({ db, databaseUrl }) => {
    await db.raw("ALTER TABLE companies ADD CONSTRAINT odd CHECK (name <> 'se-cret')");
    const { status, error } = await commandLine(settingsFor(databaseUrl)).json(
      'company',
      'create',
      'se-cret',
    );
    expect(status).toBe(1);
    expect(error?.message).toMatch(
      /^The database rejected the statement \(SQLSTATE 23514\): new row .*"odd"$/,
    );
    expect(error?.message).not.toMatch(/se-cret|insert/i);
  });

  test('lost a table points to migrate', async ({ db, databaseUrl }) => {
    await db.raw('ALTER TABLE companies RENAME TO firms');
    const { status, error } = await commandLine(settingsFor(databaseUrl)).json('company', 'list');
    await db.raw('ALTER TABLE firms RENAME TO companies');
    expect(status).toBe(1);
    expect(error?.message).toBe('The schema is not that of this release. Run: tallystick migrate');
  });
});
