import { expect } from 'vitest';
import { createJobMetrics, watchJobs } from '../../src/jobs/job-metrics.ts';
import { createJobQueue } from '../../src/jobs/queue.ts';
import { createLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { until } from '../support/minting.ts';

const metrics = createMetrics((_source, error) => {
  throw error;
});

const test = base.extend('jobs', perFile, async ({ db }, { onCleanup }) => {
  const jobs = createJobQueue({
    db,
    queues: { keyed: ['casks'], scheduled: [] },
    works: true,
    onJobs: createJobMetrics(metrics),
    log: createLogger({ level: 'silent' }),
  });
  watchJobs(metrics, jobs);
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
    ...['casks', 'chain-audit', 'mint-nft', 'purge-expired'], // those of every migrated database
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
