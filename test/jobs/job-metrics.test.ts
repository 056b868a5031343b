import { expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { listLastDone, purgeDoneJobs } from '../../src/jobs/done-job-store.ts';
import { createJobMetrics, watchJobs, watchSchedule } from '../../src/jobs/job-metrics.ts';
import { createJobQueue } from '../../src/jobs/queue.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { until } from '../support/minting.ts';
import { rowsReadBy } from '../support/statements.ts';

const metrics = createMetrics((_source, error) => {
  throw error;
});

const test = base.extend('jobs', perFile, async ({ db }, { onCleanup }) => {
  const jobs = createJobQueue({
    db,
    queues: { keyed: ['casks', 'presses'], scheduled: [] },
    works: true,
    onJobs: createJobMetrics(metrics),
    log: createLogger({ level: 'silent' }),
  });
  watchJobs(metrics, jobs);
  watchSchedule(metrics, { db, queues: ['presses'] });
  onCleanup(() => jobs.stop(1_000));
  return jobs;
});
const text = async () => (await metrics.scrape()).text;

test('tells which jobs wait, were done, and failed', async ({ db, jobs }) => {
  await jobs.open();
  await jobs.enqueue('casks', ['a', 'b']);
  // As the queue's monitor does by itself, once a minute.
  await db.raw("UPDATE pgboss.queue SET ready_count = 2 WHERE name = 'casks'");
  expect(await text()).toContain('tallystick_jobs{queue="casks",state="waiting"} 2');
  expect(await text()).toContain('tallystick_jobs{queue="casks",state="active"} 0');
  expect((await jobs.counts()).map(({ queue }) => queue).sort()).toEqual([
    ...['casks', 'chain-audit', 'mint-nft', 'presses', 'purge-expired', 'send-news'], // those of every migrated database
  ]);
  // Both at once, or one of them: as they were fetched.
  let failed = 0;
  await jobs.work({
    scheduled: [],
    keyed: [
      {
        queue: 'casks',
        async handle(keys) {
          if (failed > 0) return;
          failed = keys.length;
          throw new Error('once');
        },
      },
    ],
  });
  await until('both', async () => (await text()).includes('runs_total{queue="casks",outcome="done"} 2'));
  expect(await text()).toContain(`tallystick_job_runs_total{queue="casks",outcome="failed"} ${failed}\n`);
});

test('tells how long ago one was done, and of those that only fail since when there could be one', async ({
  db,
  jobs,
}) => {
  await jobs.open();
  const lastDone = async () =>
    Number(/^tallystick_job_last_done_seconds\{queue="presses"\} (.*)$/m.exec(await text())?.[1]);
  const age = (column: string, table: string) =>
    db.raw(`UPDATE pgboss.${table} SET ${column} = ${column} - interval '3 hours' WHERE name = 'presses'`);
  expect(await lastDone()).toBeLessThan(3_000);
  await age('created_on', 'queue');
  expect(await lastDone()).toBeGreaterThan(10_000);

  let isFailing = true;
  const handle = async () => {
    if (isFailing) throw new Error('always');
  };
  await jobs.enqueue('presses', ['a']);
  await jobs.work({ scheduled: [], keyed: [{ queue: 'presses', handle }] });
  await until('a failure', async () =>
    (await text()).includes('runs_total{queue="presses",outcome="failed"}'),
  );
  expect(await lastDone()).toBeGreaterThan(10_000);
  isFailing = false;
  await until('one that is done', async () => (await lastDone()) < 60);

  // What was done is deleted after two hours, and then no longer known.
  await age('completed_on', 'job');
  await purgeDoneJobs(db);
  expect(await db('pgboss.job').where({ name: 'presses' })).toEqual([]);
  expect(await lastDone()).toBeGreaterThan(10_000);
});

test('reads no other queues to tell that', async ({ db }) => {
  await db.raw(`INSERT INTO pgboss.job (name, state, completed_on, policy, singleton_key)
    SELECT 'mint-nft', 'completed', now(), 'exclusive', key::text FROM generate_series(1, 20000) key`);
  await db.raw(`INSERT INTO pgboss.job (name, state, completed_on, policy)
    SELECT 'chain-audit', 'completed', now() - key * interval '1 second', 'exclusive' FROM generate_series(1, 120) key`);
  // Nothing of it was done, so its own age counts.
  await db.raw(
    "UPDATE pgboss.queue SET created_on = now() - interval '5 hours' WHERE name = 'purge-expired'",
  );
  await db.raw('ANALYZE pgboss.job');
  const look = () => listLastDone(db, ['chain-audit', 'purge-expired']);
  expect((await look()).map(({ queue, seconds }) => [queue, Math.floor(seconds / 3_600)])).toEqual([
    ['chain-audit', 0],
    ['purge-expired', 5],
  ]);
  const read = await rowsReadBy(db, 'pgboss.job', look, 'job_common');
  expect(read).toBeGreaterThanOrEqual(120);
  expect(read).toBeLessThan(500);
});
