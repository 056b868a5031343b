import { PgBoss } from 'pg-boss';
import type { Tx } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';
import { createTransactionAdapter } from './transaction-adapter.ts';

/** Work that runs by the clock. Safe to run twice. */
type ScheduledJob = {
  readonly queue: string;
  /** Five-field cron expression in UTC; each time is run by one worker of all. */
  readonly cron: string;
  readonly handle: () => Promise<void>;
};

/** Work that is asked for, about rows that the keys name. Safe to run twice, for any of the keys. */
export type KeyedJob = {
  readonly queue: string;
  readonly handle: (keys: readonly string[]) => Promise<void>;
};

/** Enqueues jobs. A job carries the key of a row and nothing else: the row says what is to be done. */
export type JobSender = {
  /**
   * Enqueues a job for each key that has none. A job of a key that waits or runs already will see what this
   * transaction wrote.
   * @param tx the transaction that makes the jobs necessary: both commit, or neither
   */
  enqueue(queue: string, keys: readonly string[], tx?: Tx): Promise<void>;
};

/** The queue of background jobs, kept in the service's own database. */
export type JobQueue = JobSender & {
  /** Connects and makes the queues; sending does it by itself at its first use. */
  open(): Promise<void>;
  /** Begins to work on these jobs. */
  work(jobs: Jobs): Promise<void>;
  /** How many jobs wait and are worked on, as the queue's monitor last saw it. */
  counts(): Promise<readonly JobCounts[]>;
  /** Stops fetching, lets running jobs end for at most `graceMs`, then gives them back. */
  stop(graceMs: number): Promise<void>;
};

type JobCounts = { readonly queue: string; readonly waiting: number; readonly active: number };

/** Told of jobs that were worked on. */
export type OnJobs = (queue: string, outcome: 'done' | 'failed', count: number) => void;

type Jobs = { readonly scheduled: readonly ScheduledJob[]; readonly keyed: readonly KeyedJob[] };

type QueueOptions = {
  readonly url: string;
  /** The queues of jobs that are asked for. */
  readonly keyedQueues: readonly string[];
  /** Whether this process works on jobs; one that only asks keeps no watch over the queue. */
  readonly works: boolean;
  readonly onJobs?: OnJobs;
  readonly log: Logger;
};

const day = 24 * 60 * 60;
// A job of a key that waits or runs takes the next one of that key with it (`exclusive`). Nobody is notified:
// commits of transactions that notify wait for each other, and whoever cannot wait for a poll is told by other
// means. It outlives any
// outage, since an unstarted job is otherwise deleted after two weeks without a word; a finished one has
// nothing to tell. Without a heartbeat the job of a killed worker would stay with it for minutes.
const keyedOptions = {
  notify: false,
  heartbeatSeconds: 10,
  expireInSeconds: 120,
  retryLimit: 1_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 30,
  retentionSeconds: 365 * day,
  deleteAfterSeconds: 60 * 60,
};
// A worker sleeps after each fetch unless the batch was full.
const fetching = {
  batchSize: 500,
  burstWhenBatchFull: true,
  localConcurrency: 2,
  pollingIntervalSeconds: 1,
};

/** pg-boss as the {@link JobQueue}: it keeps its own schema, `pgboss`, in the same database. */
export function createJobQueue({ url, keyedQueues, works, onJobs = () => {}, log }: QueueOptions): JobQueue {
  const boss = createBoss({ url, works, log });
  const within = createTransactionAdapter();
  let opening: Promise<void> | undefined;

  const open = () => {
    opening ??= begin(boss, keyedQueues).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };

  return {
    open,
    async enqueue(queue, keys, tx) {
      if (keys.length === 0) return;
      await open();
      await boss.insert(queue, keys.map(toJob), tx && { db: within(tx) });
    },
    async work({ scheduled, keyed }) {
      await open();
      for (const job of scheduled) {
        const handle = () => told(onJobs, job.queue, 1, job.handle());
        await workByTheClock(boss, { ...job, handle });
      }
      for (const { queue, handle } of keyed) {
        await boss.work<{ key: string }>(queue, fetching, (jobs) =>
          told(onJobs, queue, jobs.length, handle(jobs.map(({ data }) => data.key))),
        );
      }
    },
    async counts() {
      const queues = await boss.getQueues();
      // Those of pg-boss itself are no work of ours.
      const ours = queues.filter(({ name }) => !name.startsWith('__pgboss__'));
      return ours.map(({ name: queue, readyCount: waiting, activeCount: active }) => ({
        queue,
        waiting,
        active,
      }));
    },
    async stop(graceMs) {
      await opening?.catch(() => {});
      await boss.stop({ graceful: true, timeout: graceMs, close: true });
    },
  };
}

const toJob = (key: string) => ({ data: { key }, singletonKey: key });

async function begin(boss: PgBoss, keyedQueues: readonly string[]): Promise<void> {
  await boss.start();
  for (const queue of keyedQueues) {
    await boss.createQueue(queue, { policy: 'exclusive', ...keyedOptions });
    // A queue that was made by an earlier release keeps its options otherwise.
    await boss.updateQueue(queue, keyedOptions);
  }
}

function createBoss({ url, works, log }: Pick<QueueOptions, 'url' | 'works' | 'log'>): PgBoss {
  const boss = new PgBoss({
    connectionString: url,
    max: 4,
    application_name: 'tallystick jobs',
    supervise: works,
    schedule: works,
    monitorIntervalSeconds: 5,
  });
  // Without a listener its errors would end the process; it reconnects by itself.
  boss.on('error', (error) => log.error({ err: error }, 'job queue failed'));
  boss.on('warning', (warning) => log.warn({ warning }, 'job queue warns'));
  return boss;
}

async function told(onJobs: OnJobs, queue: string, count: number, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    onJobs(queue, 'failed', count);
    throw error;
  }
  onJobs(queue, 'done', count);
}

async function workByTheClock(boss: PgBoss, { queue, cron, handle }: ScheduledJob): Promise<void> {
  await boss.createQueue(queue, { policy: 'exclusive', retryLimit: 3, expireInSeconds: 600 });
  await boss.work(queue, { pollingIntervalSeconds: 30 }, async () => handle());
  await boss.schedule(queue, cron);
}
