import { describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createReplicaReads } from '../../src/db/replica/replica-reads.ts';
import { addRwa } from '../rwa/samples.ts';
import { asUser } from '../support/database.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { type Replicated, startReplicated } from '../support/replicated.ts';
import { startServiceOn, type TestService } from '../support/service.ts';

const silent = createLogger({ level: 'silent' });
const maxLagMs = 4_000;
// One look a second, which waits for a second at most; the rest is for machines that have other things to do.
const noticedMs = 6_000;
const limit = { timeout: 60_000, interval: 100 };

const test = base
  .extend('world', perFile, async ({ serviceOptions: _none }, { onCleanup }) => {
    const world = await startReplicated();
    onCleanup(() => world.close());
    return world;
  })
  .extend('reading', perFile, async ({ world }, { onCleanup }) => {
    const settings = { DATABASE_REPLICA_URL: asUser(world.replicaUrl, 'test_api') };
    const fixed = { replicaMaxLagMs: maxLagMs };
    const service = await startServiceOn(world.database, { settings, fixed });
    onCleanup(() => service.close());
    return service;
  });

const scrape = async ({ parts }: TestService) => (await parts.metrics.scrape()).text;

const untilUsed = (service: TestService, isUsed: boolean) =>
  vi.waitFor(
    async () => expect(await scrape(service)).toContain(`tallystick_replica_used ${isUsed ? 1 : 0}\n`),
    limit,
  );

async function countReads(service: TestService, at: string): Promise<number> {
  const found = new RegExp(`^tallystick_replica_reads_total\\{at="${at}"\\} (\\d+)$`, 'm');
  return Number(found.exec(await scrape(service))?.[1] ?? 0);
}

/** Runs SQL at the replica itself, whatever its gate does. */
async function atReplica({ replica }: Replicated, sql: string): Promise<void> {
  const db = createDatabase(replica.url, { poolMax: 1, log: silent });
  await db.raw(sql);
  await db.destroy();
}

/** Names of the events in the list, and how long the answer took. */
async function list(service: TestService): Promise<{ names: string[]; ms: number }> {
  const began = performance.now();
  const { body } = await service.as(service.keys.acme).get('/events/v1/api/event').expect(200);
  return { names: body.map(({ name }: { name: string }) => name), ms: performance.now() - began };
}

const create = (service: TestService, name: string) =>
  service.as(service.keys.acme).post('/events/v1/api/event').send({ name }).expect(201);

describe('reads that may lag', () => {
  const lists = [
    '/events/v1/api/event',
    '/events/v1/api/event?limit=5&offset=1',
    '/events/v1/api/event?startsFrom=2027-01-01',
    '/v1/api/rwa?limit=5',
    '/v1/api/rwa?offset=1&isClaimable=true',
  ];
  test.for(lists)('%s is answered by the replica, without a failure there', async (path, { reading }) => {
    await addRwa(reading.db, reading.companies.acme, {});
    await create(reading, 'fair');
    await untilUsed(reading, true);
    // A busy machine may be late for one read, which the primary answers then.
    await vi.waitFor(async () => {
      const [before, other] = [await countReads(reading, 'replica'), await countReads(reading, 'primary')];
      await reading.as(reading.keys.acme).get(path).expect(200);
      expect(await countReads(reading, 'replica')).toBeGreaterThan(before);
      expect(await countReads(reading, 'primary')).toBe(other);
    }, limit);
  });

  test('attendees are answered by the replica, one event and NFTs with their secrets by the primary', async ({
    reading,
  }) => {
    const acme = reading.as(reading.keys.acme);
    const { id } = (await create(reading, 'party')).body;
    await untilUsed(reading, true);
    const before = await vi.waitFor(async () => {
      const count = await countReads(reading, 'replica');
      await acme.get(`/events/v1/api/event/${id}/attendees`).expect(200);
      expect(await countReads(reading, 'replica')).toBe(count + 1);
      return count;
    }, limit);
    await acme.get(`/events/v1/api/event/${id}`).expect(200);
    await acme.get('/v1/api/nft').expect(200);
    expect(await countReads(reading, 'replica')).toBe(before + 1);
  });
});

test('a list is never further behind than the setting says, and one record is there at once', async ({
  world,
  reading,
}) => {
  await untilUsed(reading, true);
  await atReplica(world, 'SELECT pg_wal_replay_pause()');
  const { body } = await create(reading, 'late');
  const createdAt = performance.now();
  await reading.as(reading.keys.acme).get(`/events/v1/api/event/${body.id}`).expect(200);
  for (const query of ['', '?limit=5']) {
    await reading.as(reading.keys.acme).get(`/events/v1/api/event/${body.id}/attendees${query}`).expect(200);
  }
  expect((await list(reading)).names).not.toContain('late');
  const asked: { at: number; isThere: boolean }[] = [];
  await vi.waitFor(async () => {
    const at = performance.now();
    const isThere = (await list(reading)).names.includes('late');
    asked.push({ at, isThere });
    expect(isThere).toBe(true);
  }, limit);
  // Of what was asked later than the bound, all has it.
  expect(asked.filter(({ at, isThere }) => at > createdAt + maxLagMs && !isThere)).toEqual([]);
  await untilUsed(reading, false);
  await atReplica(world, 'SELECT pg_wal_replay_resume()');
  await untilUsed(reading, true);
  expect((await list(reading)).names).toContain('late');
});

type Trouble = {
  readonly begin: (world: Replicated) => void | Promise<void>;
  readonly end: (world: Replicated) => void | Promise<void>;
};
const troubles: Readonly<Record<string, Trouble>> = {
  frozen: { begin: ({ replica }) => replica.freeze(), end: ({ replica }) => replica.thaw() },
  killed: { begin: ({ replica }) => replica.kill(), end: ({ replica }) => replica.start() },
  'behind a network that refuses': { begin: ({ gate }) => gate.refuse(), end: ({ gate }) => gate.open() },
};

test.for(Object.keys(troubles))(
  'a replica that is %s is left at once and taken again: no read fails',
  async (name, { world, reading }) => {
    const trouble = troubles[name];
    await untilUsed(reading, true);
    await trouble?.begin(world);
    // The first ones meet it, the others find that it was left.
    const answers = await Promise.all(Array.from({ length: 20 }, () => list(reading)));
    await untilUsed(reading, false);
    answers.push(await list(reading));
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(noticedMs);
    await fetch(`${reading.baseUrl}/readyz`).then(({ status }) => expect(status).toBe(200));
    await trouble?.end(world);
    await untilUsed(reading, true);
    const before = await countReads(reading, 'replica');
    await list(reading);
    expect(await countReads(reading, 'replica')).toBeGreaterThan(before);
  },
);

test('established connections that a network has lost cost no read more than some seconds', async ({
  world,
  reading,
}) => {
  await untilUsed(reading, true);
  await Promise.all(Array.from({ length: 10 }, () => list(reading)));
  world.gate.lose();
  const answers = await Promise.all(Array.from({ length: 20 }, () => list(reading)));
  expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(noticedMs);
  await untilUsed(reading, true);
});

test('a statement that the replay of the log cancels is put to the primary', async ({ world }) => {
  const log = silent;
  const { db } = world.database;
  const openPool = () => createDatabase(world.replicaUrl, { poolMax: 2, log });
  const told: string[] = [];
  const reads = createReplicaReads({
    db,
    maxLagMs: 60_000,
    openPool,
    log,
    onRead: (at) => told.push(at),
  });
  await vi.waitFor(() => expect(reads.isUsed()).toBe(true), limit);
  await atReplica(world, 'ALTER SYSTEM SET max_standby_streaming_delay = 0');
  await atReplica(world, 'SELECT pg_reload_conf()');
  await db.raw('CREATE TABLE conflict AS SELECT generate_series(1, 1000) AS n');
  const sleeping = Promise.withResolvers<void>();
  const read = reads.mayLag(async (from) => {
    const { rows } = await from.raw('SELECT pg_is_in_recovery() AS is_replica');
    sleeping.resolve();
    // As long as it runs at the replica it keeps the rows that are vacuumed away.
    if (rows[0].is_replica) await from.raw('SELECT count(*), pg_sleep(30) FROM conflict GROUP BY n');
    return rows[0].is_replica;
  });
  await sleeping.promise;
  await vi.waitFor(async () => {
    const { rows } = await db.raw('SELECT count(*)::int AS count FROM conflict');
    await db.raw('DELETE FROM conflict WHERE n <= (SELECT min(n) FROM conflict)');
    await db.raw('VACUUM conflict');
    expect(told).toEqual(['primary']);
    return rows;
  }, limit);
  expect(await read).toBe(false);
  await reads.close();
});

test('one of another cluster, or one that is no replica, is not read from', async ({ world, reading }) => {
  const foreign = await world.startForeign();
  await untilUsed(reading, true);
  const reasons: string[] = [];
  const destination = { write: (line: string) => void reasons.push(JSON.parse(line).reason) };
  const log = createLogger({ level: 'warn', destination });
  const openPool = () => createDatabase(world.replicaUrl, { poolMax: 2, log: silent });
  const onRead = () => {};
  const reads = createReplicaReads({ db: world.database.db, maxLagMs: 60_000, openPool, log, onRead });
  await vi.waitFor(() => expect(reads.isUsed()).toBe(true), limit);
  world.gate.leadTo(world.database.url);
  await vi.waitFor(() => expect(reasons).toContain('it is no replica'), limit);
  await untilUsed(reading, false);
  const before = await countReads(reading, 'replica');
  expect((await list(reading)).names).toContain('fair');
  expect(await countReads(reading, 'replica')).toBe(before);
  // With a database of the same name, and its tables.
  world.gate.leadTo(foreign.url);
  await vi.waitFor(() => expect(reasons).toContain('it belongs to another cluster'), limit);
  expect(reads.isUsed()).toBe(false);
  world.gate.leadTo(world.replica.url);
  await untilUsed(reading, true);
  await reads.close();
});
