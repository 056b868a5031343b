import { describe, expect } from 'vitest';
import { asUser } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { processSettings, startProcess } from '../support/process.ts';

type Case = {
  readonly why: string;
  readonly settings: (databaseUrl: string) => Readonly<Record<string, string>>;
  readonly status: number;
  readonly message: RegExp;
};

const withUrl = (databaseUrl: string, change: Partial<Pick<URL, 'password' | 'pathname' | 'username'>>) => ({
  DATABASE_URL: Object.assign(new URL(databaseUrl), change).href,
});

const cases: readonly Case[] = [
  {
    why: 'the password is wrong',
    settings: (url) => withUrl(asUser(url, 'test_api'), { password: 'guessed-once' }),
    status: 1,
    message: /^PostgreSQL at [\w.:]+ rejects user "test_api"\. Check user and password in DATABASE_URL\.$/,
  },
  {
    why: 'there is no such database',
    settings: (url) => withUrl(url, { pathname: '/none' }),
    status: 1,
    message: /^PostgreSQL at [\w.:]+ has no database "none"\. Create it, or correct DATABASE_URL\.$/,
  },
  {
    why: 'the user is of another role',
    settings: (url) => ({ DATABASE_URL: asUser(url, 'test_indexer'), ROLES: 'worker' }),
    status: 1,
    message:
      /^The user test_indexer of DATABASE_URL may not \w+ \w+, which ROLES needs\. Run as administrator: GRANT tallystick_worker TO test_indexer$/,
  },
  {
    why: 'the user has no role at all',
    settings: (url) => ({
      ...withUrl(url, { username: 'test_nobody', password: 'few-rights' }),
      ROLES: 'api,worker',
    }),
    status: 1,
    message:
      /^User "test_nobody" lacks a right in the database: permission denied for table \w+\. .*: GRANT tallystick_api, tallystick_worker TO "test_nobody"$/,
  },
  {
    why: 'settings are wrong',
    settings: () => ({ PORT: 'eighty', ROLES: 'cook', LOG_LEVEL: 'silent' }),
    status: 2,
    message: /^The configuration has 2 fault\(s\): PORT: .*; ROLES: /,
  },
];

describe('a service that cannot start', () => {
  test.for(cases)(
    'ends with one line of JSON that says what to do: $why',
    async (each, { db, databaseUrl }) => {
      await db.raw(
        `DO $$ BEGIN CREATE ROLE test_nobody LOGIN PASSWORD 'few-rights'; EXCEPTION WHEN duplicate_object THEN END $$`,
      );
      const main = startProcess(['src/main.ts'], {
        ...processSettings(databaseUrl),
        ...each.settings(databaseUrl),
      });
      expect(await main.ended).toBe(each.status);
      const lines = main.output().trimEnd().split('\n');
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
        level: 'fatal',
        service: 'tallystick',
        msg: expect.stringMatching(each.message),
      });
      expect(lines.filter((line) => line.includes('"level":"fatal"'))).toHaveLength(1);
      expect(main.output()).not.toMatch(/ at .*\.ts|\bselect\b|"stack"|guessed-once/);
    },
  );
});

describe('a command whose user lacks a right', () => {
  test('says which one to grant, without SQL', async ({ databaseUrl }) => {
    const settings = { ...processSettings(databaseUrl), DATABASE_URL: asUser(databaseUrl, 'test_indexer') };
    const create = startProcess(['src/cli.ts', 'company', 'create', 'acme'], settings);
    expect(await create.ended).toBe(1);
    expect(create.output()).toMatch(
      /permission denied for table \w+\. .*GRANT tallystick_operator TO "test_indexer"/,
    );
    expect(create.output()).not.toMatch(/insert into|stack/i);
    const migrate = startProcess(['src/cli.ts', 'migrate'], settings);
    expect(await migrate.ended).toBe(1);
    expect(migrate.output()).toMatch(/Give DATABASE_URL the owner of the database\./);
  });
});
