import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { inspectDatabase } from '../../src/db/schema/inspect.ts';
import { schemaRange } from '../../src/db/schema/schema-range.ts';
import { checkOutRelease, findOldestRelease, type Release } from '../support/oldest-release.ts';
import { processSettings, type RunningProcess, startProcess } from '../support/process.ts';

const log = createLogger({ level: 'silent' });
const migrations = path.join(import.meta.dirname, '../../migrations');
const found = findOldestRelease();
const why = typeof found === 'string' ? ` (not run: ${found})` : '';
const started: RunningProcess[] = [];
const pools: Database[] = [];

afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  for (const pool of pools.splice(0)) await pool.destroy();
});

/** An empty database of its own. */
async function createEmpty(): Promise<{ db: Database; url: string }> {
  const name = `release_${randomUUID().replaceAll('-', '')}`;
  const admin = createDatabase(inject('postgresUrl'), { poolMax: 1, log });
  await admin.raw(`CREATE DATABASE ${name}`);
  await admin.destroy();
  const url = inject('postgresUrl').replace(/postgres$/, name);
  const db = createDatabase(url, { poolMax: 2, log });
  pools.push(db);
  return { db, url };
}

/** Runs a program of a release over this database. */
function run(folder: string, url: string, ...words: readonly string[]): RunningProcess {
  const running = startProcess(words, processSettings(url), { cwd: folder });
  started.push(running);
  return running;
}

const present = path.join(import.meta.dirname, '../..');

test('a start over the schema of a newer release says so, and is refused when that does not let it run', async () => {
  const { db, url } = await createEmpty();
  await prepareDatabase(db);
  await db('schema_history').insert({ name: '9999_later.ts', batch: 2, migration_time: new Date() });
  const going = run(present, url, 'src/main.ts');
  await going.until(/service started/);
  expect(going.output()).toContain('newer than this one, which may run on it');
  await db('schema_range').update({ migrated_by: '9.1.0', needs: '9998_gone.ts', oldest_release: '9.0.0' });
  const refused = run(present, url, 'src/main.ts');
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain('migrated by release 9.1.0, and releases before 9.0.0 cannot work');
});

describe.skipIf(typeof found === 'string')(`release ${schemaRange.oldestRelease}${why}`, () => {
  let release: Release;
  beforeAll(() => {
    if (typeof found !== 'string') release = checkOutRelease(found);
  });
  afterAll(() => release.remove());

  test('may run on the present schema, as that declares', async () => {
    const known = await readdir(path.join(release.folder, 'migrations'));
    expect(known).toContain(schemaRange.needs);
    expect(await readdir(migrations)).toEqual(expect.arrayContaining(known));
  });

  test('starts, and migrates nothing, over a database of its own that this one has migrated', async () => {
    const { db, url } = await createEmpty();
    expect(await run(release.folder, url, 'src/cli.ts', 'migrate').ended).toBe(0);
    expect((await inspectDatabase(db)).pending.length).toBeGreaterThan(0);
    await prepareDatabase(db);
    expect(await inspectDatabase(db)).toMatchObject({ pending: [], unknown: [] });
    await run(release.folder, url, 'src/main.ts').until(/service started/);
    const again = run(release.folder, url, 'src/cli.ts', 'migrate');
    expect(await again.ended).toBe(0);
    expect(await inspectDatabase(db)).toMatchObject({ pending: [], unknown: [] });
    await run(present, url, 'src/main.ts').until(/service started/);
  });

  test('leaves a schema over which this one does not start before it is migrated', async () => {
    const { url } = await createEmpty();
    expect(await run(release.folder, url, 'src/cli.ts', 'migrate').ended).toBe(0);
    const refused = run(present, url, 'src/main.ts');
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toMatch(/lacks \d+ migration\(s\) of this release\. Run: tallystick migrate/);
  });
});
