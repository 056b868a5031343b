import { describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { FixedValues } from '../../src/config/fixed-values.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { asUser } from '../support/database.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { freePort } from '../support/postgres.ts';
import { startReplicated } from '../support/replicated.ts';
import { runDoctor, settingsFor } from './command-line.ts';

const test = base.extend('world', perFile, async ({ serviceOptions: _none }, { onCleanup }) => {
  const world = await startReplicated();
  onCleanup(() => world.close());
  const settings = settingsFor(world.database.url);
  /** What `doctor` says of the replica at this URL. */
  const examine = async (url: string | undefined, fixed: Partial<FixedValues> = {}) => {
    const own = { ...settings, ...(url && { DATABASE_REPLICA_URL: url }) };
    const { status, of } = await runDoctor(own, { fixed });
    return { status, found: of('replica') };
  };
  const atReplica = async (sql: string) => {
    const db = createDatabase(world.replica.url, { poolMax: 1, log: createLogger({ level: 'silent' }) });
    await db.raw(sql);
    await db.destroy();
  };
  const arrived = async () => {
    const db = createDatabase(world.replicaUrl, { poolMax: 1, log: createLogger({ level: 'silent' }) });
    await db.raw('SELECT 1').finally(() => db.destroy());
  };
  await vi.waitFor(arrived, { timeout: 60_000, interval: 100 });
  return { ...world, examine, atReplica };
});

/** For a replica that never shows it. */
const impatient = { replicaMaxLagMs: 100 };

const withDatabase = (url: string, name: string) => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

describe('doctor, on a replica', () => {
  test('says nothing where none is named', async ({ world }) => {
    expect((await world.examine(undefined)).found).toEqual([]);
  });

  test('tells how far behind it is, and leaves nothing behind', async ({ world }) => {
    const { status, found } = await world.examine(asUser(world.replicaUrl, 'test_api'));
    expect(found).toEqual([
      {
        check: 'replica',
        state: 'ok',
        detail: expect.stringMatching(/^follows this database, \d+ ms behind$/),
      },
    ]);
    expect(status).toBe(0);
    expect(await world.database.db('replica_heartbeats')).toEqual([]);
  });

  test('warns where it shows too late what is committed', async ({ world }) => {
    await world.atReplica('SELECT pg_wal_replay_pause()');
    await world.database.db.raw('CREATE TABLE late_news (id int)');
    const { status, found } = await world
      .examine(world.replicaUrl, impatient)
      .finally(() => world.atReplica('SELECT pg_wal_replay_resume()'));
    expect(found).toMatchObject([
      { state: 'warning', detail: expect.stringMatching(/^it did not get in 0.1 s/) },
    ]);
    expect(status).toBe(0);
  });

  test('reports another database of the same server', async ({ world }) => {
    const other = withDatabase(world.replicaUrl, 'tallystick_template');
    const { found } = await world.examine(other, impatient);
    expect(found).toMatchObject([
      { state: 'FAULT', detail: expect.stringContaining('correct the database in DATABASE_REPLICA_URL') },
    ]);
  });

  test('names a user without rights, the one to give, and an empty database', async ({ world }) => {
    const worker = await world.examine(asUser(world.replicaUrl, 'test_worker'));
    expect(worker.status).toBe(1);
    expect(worker.found).toMatchObject([
      {
        state: 'FAULT',
        detail: expect.stringMatching(
          /^its user test_worker may not read \w+ and \d+ more tables, .* GRANT tallystick_api TO test_worker/,
        ),
      },
    ]);
    const empty = await world.examine(withDatabase(world.replicaUrl, 'postgres'));
    expect(empty.found).toMatchObject([{ state: 'FAULT', detail: expect.stringContaining('may not read') }]);
  });

  test('tells a primary, a replica of another server, and one that does not answer', async ({ world }) => {
    const primary = await world.examine(world.database.url);
    expect(primary.found).toMatchObject([
      { state: 'FAULT', detail: expect.stringMatching(/^it takes writes/) },
    ]);
    const foreign = await world.startForeign();
    const name = new URL(world.database.url).pathname.slice(1);
    const another = await world.examine(withDatabase(foreign.url, name));
    expect(another.found).toMatchObject([
      { state: 'FAULT', detail: expect.stringMatching(/^it follows another server/) },
    ]);
    const port = await freePort();
    const absent = await world.examine(`postgres://me:pass-word@127.0.0.1:${port}/db`);
    expect(absent.status).toBe(1);
    const [fault] = absent.found;
    expect(fault?.detail).toContain('host and port in DATABASE_REPLICA_URL');
    expect(fault?.detail).not.toContain('pass-word');
  });
});
