import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/postgres.ts';
import { commandLine, settingsFor } from './command-line.ts';

const { db, url, close } = await createTestDatabase();
const role = `role_${randomUUID().replaceAll('-', '')}`;
await db.raw(`CREATE ROLE ${role} LOGIN PASSWORD 'pass-word'`);
afterAll(async () => {
  await db.raw(`DROP ROLE ${role}`);
  await close();
});

function changed(change: (url: URL) => void): string {
  const made = new URL(url);
  change(made);
  return made.href;
}

const { host, username } = new URL(url);
const nobody = `127.0.0.1:${await freePort()}`;

const faults: [string, string, string][] = [
  [
    'does not answer',
    changed((to) => {
      to.host = nobody;
      to.password = 'pass-word';
    }),
    `PostgreSQL at ${nobody} cannot be reached`,
  ],
  [
    'has a name that nobody knows',
    'postgres://me:pass-word@nowhere.invalid/db',
    'PostgreSQL at nowhere.invalid cannot be reached',
  ],
  [
    'refuses the password',
    changed((to) => {
      to.password = 'wrong-pass-word';
    }),
    `PostgreSQL at ${host} refuses user "${username}". Check user and password in DATABASE_URL.`,
  ],
  [
    'lacks the database',
    changed((to) => {
      to.pathname = '/nothing';
    }),
    `PostgreSQL at ${host} has no database "nothing". Create it, or correct DATABASE_URL.`,
  ],
  [
    'gives the user no rights',
    changed((to) => {
      to.username = role;
      to.password = 'pass-word';
    }),
    `User "${role}" lacks a right in the database: permission denied for table schema_migrations.`,
  ],
  [
    'only reads',
    changed((to) => to.searchParams.set('options', '-c default_transaction_read_only=on')),
    `PostgreSQL at ${host} only reads: name its primary in DATABASE_URL.`,
  ],
];

describe('a database that', () => {
  test.each(faults)('%s is told with what to mend, without the password', async (_, databaseUrl, message) => {
    const { status, value, error } = await commandLine(settingsFor(databaseUrl)).json(
      ...['company', 'create', 'acme'],
    );
    expect({ status, value }).toEqual({ status: 1, value: undefined });
    expect(error?.message).toContain(message);
    expect(error?.message).not.toMatch(/pass-word|insert into/);
  });

  test('belongs to the local service is told with how to start that', async () => {
    const { error } = await commandLine(settingsFor(`postgres://me:pass-word@${nobody}/db`)).json(
      ...['company', 'list', '--local'],
    );
    expect(error?.message).toMatch(/cannot be reached .*\. Start the local service first: npm start$/);
  });

  test('fails in the middle is told without the statement and its values', async () => {
    await db.raw("ALTER TABLE companies ADD CONSTRAINT odd CHECK (name <> 'se-cret')");
    const { status, error } = await commandLine(settingsFor(url)).json('company', 'create', 'se-cret');
    expect(status).toBe(1);
    expect(error?.message).toMatch(/^The database refused \(SQLSTATE 23514\): new row .*"odd"$/);
    expect(error?.message).not.toMatch(/se-cret|insert/i);
  });

  test('lost a table points to migrate', async () => {
    await db.raw('ALTER TABLE companies RENAME TO firms');
    const { status, error } = await commandLine(settingsFor(url)).json('company', 'list');
    await db.raw('ALTER TABLE firms RENAME TO companies');
    expect(status).toBe(1);
    expect(error?.message).toBe('The schema is not that of this release. Run: tallystick migrate');
  });
});
