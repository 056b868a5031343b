import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { auditedActions, commandLine, settingsFor } from './command-line.ts';

const log = createLogger({ level: 'silent' });
const name = `empty_${randomUUID().replaceAll('-', '')}`;
const url = inject('postgresUrl').replace(/postgres$/, name);
const db = createDatabase(url, { poolMax: 2, log });
const { run, json } = commandLine(settingsFor(url));

beforeAll(async () => {
  const admin = createDatabase(inject('postgresUrl'), { poolMax: 1, log });
  await admin.raw(`CREATE DATABASE ${name}`);
  await admin.destroy();
});
afterAll(() => db.destroy());

const tables = () => db('pg_tables').where({ schemaname: 'public' }).pluck('tablename');

describe('a database that was never migrated', () => {
  test('is left as it is by every other command, which says what to run', async () => {
    for (const command of [
      ['company', 'list'],
      ['key', 'create'],
      ['rwa', 'list'],
    ]) {
      const { status, out, err } = await run(...command);
      expect({ status, out }).toEqual({ status: 1, out: '' });
      expect(err).toMatch(
        /^The database lacks \d+ migration\(s\) of this release\. Run: tallystick migrate\n$/,
      );
    }
    expect(await tables()).toEqual([]);
  });

  test('is not migrated when it shall be spread over a cluster that is not there', async () => {
    const { status, err } = await run('migrate', '--distribute');
    expect(status).toBe(1);
    expect(err).toContain('CREATE EXTENSION citus');
    expect(await tables()).toEqual([]);
  });

  test('has pending migrations, which exit status 1 tells too', async () => {
    const { status, value } = await json('migrate', '--status');
    expect(status).toBe(1);
    expect(value[0]).toEqual({ name: '0001_companies_and_keys.ts' });
    expect((await run('migrate', '--status')).out).toMatch(/^PENDING\n0001_companies_and_keys\.ts\n/);
    expect(await tables()).toEqual([]);
  });
});

describe('migrate', () => {
  test('makes the schema, and names what it did', async () => {
    const { status, out, err } = await run('migrate');
    expect(status).toBe(0);
    expect(out).toMatch(/^MIGRATED\n0001_companies_and_keys\.ts\n/);
    expect(err).toMatch(/^\d+ migration\(s\) done\.\n$/);
    expect(await tables()).toEqual(expect.arrayContaining(['companies', 'networks', 'nfts']));
    expect(await auditedActions(db)).toEqual(['migrate']);
  });

  test('has nothing to do a second time', async () => {
    expect(await json('migrate')).toEqual({
      status: 0,
      value: [],
      notes: ['The schema is current.'],
      error: undefined,
    });
    expect(await json('migrate', '--status')).toMatchObject({ status: 0, value: [] });
  });

  test('gives the roles what a run that was cut off has not, which its status tells', async () => {
    await db.raw('REVOKE INSERT ON attendees FROM tallystick_api');
    const { status, value } = await json('migrate', '--status');
    expect([status, value]).toEqual([1, [{ name: 'tallystick_api may not INSERT attendees' }]]);
    await json('migrate');
    expect(await json('migrate', '--status')).toMatchObject({ status: 0, value: [] });
  });

  test('refuses a database from between two releases, as every command does', async () => {
    const name = '0016_mint_notes.ts';
    await db('schema_history').insert({ name, batch: 1, migration_time: new Date() });
    for (const command of [
      ['migrate'],
      ['migrate', '--status'],
      ['migrate', '--distribute'],
      ['company', 'list'],
    ]) {
      const { status, error } = await json(...command);
      expect(status).toBe(1);
      expect(error?.message).toBe(
        'The database was migrated by a state of Tallystick between two releases: it has run 0016_mint_notes.ts, and no release ' +
          'has this migration. Use an empty database (for npm start: npm start -- --fresh), or a backup that a release made.',
      );
    }
    await db('schema_history').where({ name }).delete();
    expect(await json('migrate', '--status')).toMatchObject({ status: 0, value: [] });
  });

  const migrateByNewer = async (needs: string) => {
    await db('schema_history').where({ name: '9999_later.ts' }).delete();
    await db('schema_history').insert({ name: '9999_later.ts', batch: 2, migration_time: new Date() });
    await db('schema_range').update({ migrated_by: '9.1.0', needs, oldest_release: '9.0.0' });
  };

  test('leaves a database alone that a newer release has migrated, on which this one may run', async () => {
    await migrateByNewer('0025_roles.ts');
    for (const command of ['migrate', 'migrate --distribute']) {
      expect(await json(...command.split(' '))).toMatchObject({
        status: 0,
        value: [],
        notes: [
          'The schema is of release 9.1.0, newer than this one, which may run on it: there is nothing to do.',
        ],
      });
    }
    expect(await json('migrate', '--status')).toMatchObject({ status: 0, value: [] });
    expect(await json('company', 'list')).toMatchObject({ status: 0 });
    expect((await db('schema_range').first()).migrated_by).toBe('9.1.0');
  });

  test('refuses one on which this release cannot run, as every command does', async () => {
    await migrateByNewer('9998_taken_away.ts');
    for (const command of [['migrate'], ['migrate', '--status'], ['company', 'list']]) {
      const { status, error } = await json(...command);
      expect(status).toBe(1);
      expect(error?.message).toBe(
        'The database was migrated by release 9.1.0, and releases before 9.0.0 cannot work with its schema any more: ' +
          'use 9.0.0 or later, or restore a backup from before that migration.',
      );
    }
  });

  test('refuses one that does not say which releases may run on it', async () => {
    await db('schema_range').delete();
    expect((await json('company', 'list')).error?.message).toBe(
      'The database was migrated by a newer release (9999_later.ts): use that release.',
    );
  });
});
