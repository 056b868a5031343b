import { expect, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connect.ts';
import { type CountsKeeper, keepCounts } from '../../src/db/counts-keeper.ts';
import { foldLock } from '../../src/db/list-folds-store.ts';
import { hasUnsettled, splitCrowded } from '../../src/db/list-splits-store.ts';
import { countEvents } from '../../src/events/event-list-store.ts';
import { createLogger } from '../../src/log.ts';
import { startService } from '../../src/service.ts';
import { asUser } from '../support/database.ts';
import { test as base } from '../support/fixtures.ts';
import { rowsReadBy, type Statement } from '../support/statements.ts';

const log = createLogger({ level: 'silent' });
const company = 'busy';

const test = base.extend('keeping', ({ db }, { onCleanup }) => {
  const keepers: CountsKeeper[] = [];
  onCleanup(async () => {
    await Promise.all(keepers.map((keeper) => keeper.stop()));
  });
  return () => {
    const keeper = keepCounts({ db, log, restMs: 10 });
    keepers.push(keeper);
    return keeper;
  };
});

const addEvents = (db: Database, count: number, companyId = company) =>
  db.raw(
    `INSERT INTO events (company_id, name, start_date) SELECT ?, 'event ' || n, now() FROM generate_series(1, ?::int) AS n`,
    [companyId, count],
  );

const pending = async (db: Database) => Number((await db('list_changes').count())[0]?.['count']);
const settled = { timeout: 60_000, interval: 20 };

test('folds and parts what was written, though nobody reads', async ({ db, keeping }) => {
  await addEvents(db, 6_000);
  const keeper = keeping();
  await vi.waitFor(async () => {
    expect(await pending(db)).toBe(0);
    expect(await db('list_splits').where({ is_counted: false })).toEqual([]);
  }, settled);
  // What it asks itself is not the reader's.
  await keeper.stop();
  expect(await db('list_counts').where({ list: 'events', shift: -8 }).sum('count')).toEqual([
    { sum: '6000' },
  ]);
  expect(await countEvents(db, company, {})).toBe(6_000);
  expect(await rowsReadBy(db, 'list_changes', () => countEvents(db, company, {}))).toBe(0);
});

/** Whoever holds the lock leaves a pass two tries and nothing to do. @param work gets how many tries there were until now */
async function whileAnotherFolds(
  db: Database,
  work: (tries: () => number) => Promise<unknown>,
): Promise<number> {
  let tries = 0;
  const note = ({ sql }: Statement) => {
    if (sql.includes('pg_try_advisory_xact_lock')) tries += 1;
  };
  await db.transaction(async (tx) => {
    await tx.raw(`SELECT pg_advisory_xact_lock(${foldLock})`);
    db.on('query', note);
    await work(() => tries);
  });
  db.removeListener('query', note);
  return tries;
}

test('rests for a short while as long as there is something to fold', async ({ db }) => {
  await addEvents(db, 10, 'quick');
  await whileAnotherFolds(db, async (tries) => {
    const keeper = keepCounts({ db, log, restMs: 600_000, busyRestMs: 10 });
    await vi.waitFor(() => expect(tries()).toBeGreaterThan(4), settled);
    await keeper.stop();
  });
});

test('keeps up with writers who go on, beside another process that does the same', async ({
  db,
  keeping,
}) => {
  keeping();
  keeping();
  for (let batch = 0; batch < 40; batch += 1) await addEvents(db, 250);
  await vi.waitFor(async () => expect(await pending(db)).toBe(0), settled);
  expect(await countEvents(db, company, {})).toBe(16_000);
});

test('goes on after what it could not do', async ({ db }) => {
  await db.raw('ALTER TABLE list_counts RENAME TO list_counts_away');
  await addEvents(db, 10);
  const failures: unknown[] = [];
  const watched = Object.assign(Object.create(log), { error: (facts: unknown) => failures.push(facts) });
  const keeper = keepCounts({ db, log: watched, restMs: 10 });
  await vi.waitFor(() => expect(failures.length).toBeGreaterThan(0), settled);
  await db.raw('ALTER TABLE list_counts_away RENAME TO list_counts');
  await vi.waitFor(async () => expect(await pending(db)).toBe(0), settled);
  await keeper.stop();
  await addEvents(db, 10);
  expect(await pending(db)).toBe(20);
});

test('is what a service with a worker does, by the rights of its role', async ({
  db,
  databaseUrl,
  onTestFinished,
}) => {
  const config = loadConfig({
    ...{
      DATABASE_URL: asUser(databaseUrl, 'test_worker'),
      ROLES: 'worker',
      AREAS: 'events',
      MINT_MAX_FEE_GWEI: '1',
    },
    ...{ SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` },
  });
  const service = await startService({ ...config, PORT: 0, OPERATIONS_PORT: 0 }, log);
  onTestFinished(() => service.stop());
  await addEvents(db, 3_000);
  await vi.waitFor(async () => {
    expect(await pending(db)).toBe(0);
    expect(await db('list_splits').where({ is_counted: false })).toEqual([]);
  }, settled);
});

test('a stretch that cannot be counted keeps no other from it for long, and is told', async ({ db }) => {
  const wanted = { company_id: 'poison', list: 'events', shift: 0 };
  await db('list_splits').insert([
    { ...wanted, list: 'nothing', bucket: 1 },
    { ...wanted, bucket: 1_099_404_927_774 },
    { ...wanted, bucket: 1_099_404_927_775 },
  ]);
  const outcomes: (number | string)[] = [];
  for (let round = 0; round < 4; round += 1) {
    outcomes.push(await splitCrowded(db, 1).catch((error: Error) => error.message));
  }
  expect(outcomes.toSorted()).toEqual([0, 1, 1, 'There is no list nothing.']);
  expect(await hasUnsettled(db)).toBe(false);
  // It is tried again, in a while.
  await db.raw("UPDATE list_splits SET tried_at = tried_at - interval '11 minutes' WHERE NOT is_counted");
  expect(await hasUnsettled(db)).toBe(true);
  await db('list_splits').where({ company_id: 'poison' }).delete();
});

test('a statement that takes too long is told', async ({ databaseUrl, db }) => {
  await addEvents(db, 1, 'slow');
  const lines: string[] = [];
  const told = createLogger({ level: 'error', destination: { write: (line) => lines.push(line) } });
  const impatient = createDatabase(databaseUrl, {
    ...{ poolMax: 1, log },
    limits: { statementMs: 1, lockMs: 0, idleInTransactionMs: 0 },
  });
  await db.transaction(async (tx) => {
    await tx.raw('LOCK TABLE list_changes IN ACCESS EXCLUSIVE MODE');
    const keeper = keepCounts({ db: impatient, log: told, restMs: 10 });
    await vi.waitFor(() => expect(lines.join()).toContain('the counters of lists were not folded'), settled);
    await keeper.stop();
  });
  await impatient.destroy();
});

test('many readers begin one pass behind them, whoever folds meanwhile', async ({ db }) => {
  await addEvents(db, 1_100, 'read');
  const readers = () => Promise.all(Array.from({ length: 100 }, () => countEvents(db, 'read', {})));
  expect(await whileAnotherFolds(db, readers)).toBeLessThan(50);
});
