import { isDeepStrictEqual } from 'node:util';
import { type Clock, PgBoss, systemClock } from 'pg-boss';
import type { Logger } from '../base/log.ts';
import { inScope } from '../base/request-scope.ts';
import type { Tracing } from '../base/span.ts';
import type { Database, Tx } from '../contract/transaction.ts';
import { codeOf } from '../db/connection/outage.ts';
import { inOwnSpan } from '../tracing/in-span.ts';
import { createPoolAdapter, transactionAdapter } from './transaction-adapter.ts';

/** A job that runs on a schedule. It must be safe to run twice. */
type ScheduledJob = {
  readonly queue: string;
  /** Five-field cron expression in UTC; one of all workers runs it each time. */
  readonly cron: string;
  readonly handle: () => Promise<void>;
};

/** A job that is enqueued for rows, which its keys name. It must be safe to run twice, for any of the keys. */
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
   * @param causes by key, the `traceparent` of what makes its job necessary, so that the job goes on with that trace
   */
  enqueue(
    queue: string,
    keys: readonly string[],
    tx?: Tx,
    causes?: ReadonlyMap<string, string>,
  ): Promise<void>;
};

/** The queue of background jobs, kept in the service's own database. */
export type JobQueue = JobSender & {
  /** Connects, and creates the queues that are not there yet. The first `enqueue` does so too. */
  open(): Promise<void>;
  /** Enqueues a job that begins at this time, unless the key has one for it. @param tx as of `enqueue` */
  enqueueAt(queue: string, key: string, at: Date, tx: Tx): Promise<void>;
  /** Starts to fetch and run these jobs. */
  work(jobs: Jobs): Promise<void>;
  /** The number of jobs that wait and that run, as the queue's monitor last counted them. */
  counts(): Promise<readonly JobCounts[]>;
  /** Stops fetching, waits at most `graceMs` for running jobs, then returns them to the queue. */
  stop(graceMs: number): Promise<void>;
};

type JobCounts = { readonly queue: string; readonly waiting: number; readonly active: number };

/** The queues of a service, by the kind of their jobs. */
export type QueueNames = { readonly keyed: readonly string[]; readonly scheduled: readonly string[] };

/** Called after each run of jobs. */
export type OnJobs = (queue: string, outcome: 'done' | 'failed', count: number) => void;

type Jobs = { readonly scheduled: readonly ScheduledJob[]; readonly keyed: readonly KeyedJob[] };

type QueueOptions = {
  readonly db: Database;
  readonly queues: QueueNames;
  /** Whether this process runs jobs. A process that only enqueues them does not supervise the queue. */
  readonly works: boolean;
  readonly onJobs?: OnJobs;
  readonly log: Logger;
  /** Undefined without traces. */
  readonly tracing?: Tracing | undefined;
};

const day = 24 * 60 * 60;
// `notify` is off because commits of transactions that notify wait for each other; the worker has a channel of its
// own. The retention outlives any outage: pg-boss deletes unstarted jobs after two weeks by default. Without a
// heartbeat the job of a killed worker would stay active for minutes.
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
const scheduledOptions = { retryLimit: 3, expireInSeconds: 600 };
// A fetcher sleeps after each batch that was not full. One fetcher gets through all jobs that a database accepts, and a
// second would ask at the same moments.
const fetching = {
  batchSize: 500,
  burstWhenBatchFull: true,
  localConcurrency: 1,
  pollingIntervalSeconds: 2,
};
// No job waits for another job. Otherwise pg-boss would search for waiting jobs every 5 s, with two transactions.
const flowIntervalSeconds = 86_400;

/** pg-boss as the {@link JobQueue}: it keeps its own schema, `pgboss`, in the same database, and uses the same pool. */
export function createJobQueue(options: QueueOptions): JobQueue {
  const { db, queues, works, log } = options;
  const boss = createBoss({ db, works, log });
  const run = createRunner(options);
  let opening: Promise<void> | undefined;

  const open = () => {
    opening ??= begin(boss, queues).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };

  return {
    open,
    async enqueue(queue, keys, tx, causes) {
      if (keys.length === 0) return;
      await open();
      const jobs = keys.map((key) => toJob(key, causes?.get(key)));
      await boss.insert(queue, jobs, tx && { db: transactionAdapter(tx) });
    },
    async enqueueAt(queue, key, at, tx) {
      await open();
      const job = { ...toJob(key), singletonKey: `${key} ${at.toISOString()}`, startAfter: at };
      await boss.insert(queue, [job], { db: transactionAdapter(tx) });
    },
    async work({ scheduled, keyed }) {
      await open();
      for (const job of scheduled) {
        await boss.work(job.queue, { pollingIntervalSeconds: 30 }, (jobs) =>
          run(job.queue, jobs, job.handle),
        );
        await boss.schedule(job.queue, job.cron);
      }
      for (const { queue, handle } of keyed) {
        await boss.work<KeyedData>(queue, fetching, (jobs) =>
          run(queue, jobs, () => handle(jobs.map(({ data }) => data.key))),
        );
      }
    },
    async counts() {
      const queues = await boss.getQueues();
      // pg-boss has queues of its own.
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

/** Releases before traces write and read the key alone. */
type KeyedData = { readonly key: string; readonly traceparent?: string };

const toJob = (key: string, traceparent?: string) => ({
  data: { key, ...(traceparent !== undefined && { traceparent }) } satisfies KeyedData,
  singletonKey: key,
});

async function begin(boss: PgBoss, { keyed, scheduled }: QueueNames): Promise<void> {
  await boss.start();
  const present = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  const wanted = [
    ...keyed.map((queue) => ({ queue, options: keyedOptions })),
    ...scheduled.map((queue) => ({ queue, options: scheduledOptions })),
  ];
  for (const { queue, options } of wanted) {
    const found = present.get(queue);
    if (found === undefined) await boss.createQueue(queue, { policy: 'exclusive', ...options });
    // Writes nothing where all is as it should be: most database users may not.
    else if (!isDeepStrictEqual({ ...found, ...options }, found)) await boss.updateQueue(queue, options);
  }
}

const insufficientPrivilege = '42501';

// If the clock of this machine is set back by an hour, scheduled work would wait for an hour.
const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

function createBoss({ db, works, log }: Pick<QueueOptions, 'db' | 'works' | 'log'>): PgBoss {
  const boss = new PgBoss({
    db: createPoolAdapter(db),
    supervise: works,
    schedule: works,
    monitorIntervalSeconds: 10,
    // One statement deletes done jobs. If it ran once a day only, it would never end in its time after an outage.
    maintenanceIntervalSeconds: 60,
    clock: steadyClock,
    flowIntervalSeconds,
  });
  // Without a listener its errors would end the process; it reconnects by itself. Each process maintains its tables,
  // also where the database user only adds jobs and lacks the rights. A job that cannot be added rejects where it is
  // asked for.
  boss.on('error', (error) => {
    if (works || codeOf(error) !== insufficientPrivilege) log.error({ err: error }, 'job queue failed');
  });
  boss.on('warning', (warning) => {
    // Its clock here is the clock of the start: `tallystick doctor` compares the present clocks of both machines.
    if (!/clock skew/i.test(warning.message)) log.warn({ warning }, 'job queue warns');
  });
  return boss;
}

// A batch may have hundreds.
const namedJobs = 5;

/** Runs the work of a batch of jobs, whose ids its log lines name, and returns what became of it. */
function createRunner({ onJobs = () => {}, log, tracing }: QueueOptions) {
  return async (queue: string, jobs: readonly FetchedJob[], work: () => Promise<void>): Promise<void> => {
    const jobIds = jobs.slice(0, namedJobs).map(({ id }) => id);
    const facts = { queue, jobIds, jobs: jobs.length };
    const scope = { signal: new AbortController().signal, isRead: false, facts };
    const span = { name: `process ${queue}`, kind: 'consumer', facts: spanFacts(queue, jobs) } as const;
    const run = async () => {
      try {
        await work();
      } catch (err) {
        log.warn({ err }, 'jobs failed, and will be tried again');
        onJobs(queue, 'failed', jobs.length);
        throw err;
      }
      onJobs(queue, 'done', jobs.length);
    };
    return inScope(scope, () => inOwnSpan(tracing, span, jobs.flatMap(causeOf), run));
  };
}

type FetchedJob = { readonly id: string; readonly data: unknown };

const spanFacts = (queue: string, jobs: readonly FetchedJob[]) => ({
  'messaging.system': 'pg-boss',
  'messaging.operation.type': 'process',
  'messaging.destination.name': queue,
  'messaging.batch.message_count': jobs.length,
});

function causeOf({ data }: FetchedJob): string[] {
  const isTraced = typeof data === 'object' && data !== null && 'traceparent' in data;
  return isTraced && typeof data.traceparent === 'string' ? [data.traceparent] : [];
}
