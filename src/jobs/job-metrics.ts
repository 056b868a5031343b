import type { Metrics } from '../base/metrics.ts';
import type { Database } from '../contract/transaction.ts';
import { listLastDone } from './done-job-store.ts';
import type { JobQueue, OnJobs } from './queue.ts';

export function createJobMetrics(metrics: Metrics): OnJobs {
  const runs = metrics.counter({
    name: 'tallystick_job_runs_total',
    help: 'Jobs that this process ran. A failed job is tried again.',
    labels: ['queue', 'outcome'],
  });
  return (queue, outcome, count) => runs.inc({ queue, outcome }, count);
}

/** Registers gauges of the job queue, as its monitor last counted them: at most a minute ago. */
export function watchJobs(metrics: Metrics, jobs: Pick<JobQueue, 'counts'>): void {
  metrics.levels({
    gauges: {
      jobs: {
        name: 'tallystick_jobs',
        help: 'Jobs that wait or run, at most a minute ago.',
        labels: ['queue', 'state'],
      },
    },
    sources: () => [
      {
        name: 'jobs',
        read: async () => ({
          jobs: (await jobs.counts()).flatMap(({ queue, waiting, active }) => [
            { labels: { queue, state: 'waiting' }, value: waiting },
            { labels: { queue, state: 'active' }, value: active },
          ]),
        }),
      },
    ],
  });
}

/** Registers the gauge of jobs that run by the clock, which stand in these queues. */
export function watchSchedule(
  metrics: Metrics,
  { db, queues }: { readonly db: Database; readonly queues: readonly string[] },
): void {
  metrics.levels({
    gauges: {
      lastDone: {
        name: 'tallystick_job_last_done_seconds',
        help: 'Time since a scheduled job last finished. Without a run in two hours: time since its queue was created.',
        labels: ['queue'],
      },
    },
    sources: () => [
      {
        name: 'schedule',
        read: async () => ({
          lastDone: (await listLastDone(db, queues)).map(({ queue, seconds }) => ({
            labels: { queue },
            value: seconds,
          })),
        }),
      },
    ],
  });
}
