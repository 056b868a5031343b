import { PgBoss } from 'pg-boss';
import type { Logger } from '../log.ts';

/** One unit of background work: its queue, when it runs by itself, and what it does. Safe to run twice. */
export type Job = {
  readonly queue: string;
  /** Five-field cron expression in UTC; each time is run by one worker of all. */
  readonly cron: string;
  readonly handle: () => Promise<void>;
};

/** The queue of background jobs, kept in the service's own database. */
export type JobQueue = {
  /** Makes the queues and begins to work on them. */
  start(): Promise<void>;
  /** Stops fetching, lets running jobs end for at most `graceMs`, then gives them back. */
  stop(graceMs: number): Promise<void>;
};

/** pg-boss as the {@link JobQueue}: it keeps its own schema, `pgboss`, in the same database. */
export function createJobQueue(options: {
  readonly url: string;
  readonly jobs: readonly Job[];
  readonly log: Logger;
}): JobQueue {
  const boss = new PgBoss({ connectionString: options.url, max: 3, application_name: 'tallystick jobs' });
  // Without a listener its errors would end the process; it reconnects by itself.
  boss.on('error', (error) => options.log.error({ err: error }, 'job queue failed'));
  return {
    async start() {
      await boss.start();
      for (const { queue, cron, handle } of options.jobs) {
        await boss.createQueue(queue, { policy: 'exclusive', retryLimit: 3, expireInSeconds: 600 });
        await boss.work(queue, { pollingIntervalSeconds: 30 }, async () => handle());
        await boss.schedule(queue, cron);
      }
    },
    stop: (graceMs) => boss.stop({ graceful: true, timeout: graceMs, close: true }),
  };
}
