import type { Logger } from '../../base/log.ts';
import { createTrigger, type Trigger } from '../../base/trigger.ts';
import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import type { JobQueue } from '../../jobs/queue.ts';
import type { Callee } from '../../outgoing/callee.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { EndpointSecrets } from '../endpoints/endpoint-secret.ts';
import { sendQueue } from '../endpoints/send-queue.ts';
import { newsToApi, type RecordPaths } from '../feed/news-to-api.ts';
import { type TryResult, tryDelivery } from './delivery.ts';
import { waitAfter } from './retry-schedule.ts';
import {
  type Due,
  disableEndpoint,
  findDue,
  recordOutcomes,
  type TryOutcome,
  takeOver,
} from './sender-store.ts';

/** Where a sender is. Tests end one there. */
export type SenderStep = 'taken over' | 'picked' | 'posted' | 'recorded';

export type RunnerParts = {
  readonly db: Database;
  readonly log: Logger;
  readonly secrets: EndpointSecrets;
  readonly paths: RecordPaths;
  readonly jobs: Pick<JobQueue, 'enqueueAt'>;
  /** How soon a runner reads by itself what is due. */
  readonly fallbackMs?: number | undefined;
  /** Called at each step; what it throws ends the run. */
  readonly step?: ((step: SenderStep) => Promise<void>) | undefined;
};

/** Sends to one endpoint, next to all others. */
export type EndpointRunner = {
  /** Reads news at once. */
  wake(): void;
  /** Resolves when the endpoint is no longer enabled, or the signal has aborted. @throws what is wrong with the database */
  readonly done: Promise<void>;
};

/** Deliveries to an endpoint at once. */
export const deliveriesAtOnce = 16;
// Of so many subjects something waits for one endpoint; the rest stays in the feed.
const mostWaiting = 500;
// So much is read ahead when there is more: each read costs milliseconds.
const [mostFetched, leastFetched] = [200, 100];
// Jobs wake a runner when something is due. This is for a job that got lost.
const usualFallbackMs = 30_000;
const disableAfterMs = 5 * 24 * 3_600_000;

/** An endpoint with its address in clear. */
type Receiver = Omit<Endpoint, 'address'> & { readonly url: URL };

type Tried = { readonly due: Due; readonly result: TryResult };

/**
 * Starts to send to an endpoint, until it is disabled or the signal aborts.
 * @throws Error when a secret of the endpoint does not open
 */
export function startEndpointRunner(
  parts: RunnerParts,
  endpoint: Receiver,
  callee: Callee,
  signal: AbortSignal,
): EndpointRunner {
  const trigger = createTrigger(signal);
  const post = createPost(parts, endpoint, callee);
  return { wake: trigger.fire, done: run(parts, { id: endpoint.id, post, signal, trigger }) };
}

type Post = (due: Due) => Promise<TryResult>;

type Run = {
  readonly id: string;
  readonly post: Post;
  readonly signal: AbortSignal;
  readonly trigger: Trigger;
};

async function run(parts: RunnerParts, { id, post, signal, trigger }: Run): Promise<void> {
  const { db, step = async () => {}, fallbackMs = usualFallbackMs } = parts;
  const posts = createPosts(post, { step, onEnd: trigger.fire });
  let shutUntil = 0;
  while (!signal.aborted) {
    const finished = posts.takeFinished();
    if (finished.length > 0) {
      shutUntil = Math.max(0, ...finished.map(shutTime));
      if (finished.some(isStop)) posts.dropWaiting();
      await record(parts, id, finished);
      posts.forget(finished);
      await step('recorded');
    }
    if (posts.room() >= leastFetched) {
      const taken = await takeOver(db, id, mostWaiting);
      if (taken === undefined) return;
      if (taken.hasGap) return disableEndpoint(db, id, 'outdated');
      // Nothing else wakes the run where all news wait behind something.
      if (taken.hasMore) trigger.fire();
      await step('taken over');
      const isShut = performance.now() < shutUntil;
      posts.add(isShut ? [] : await findDue(db, { id, busy: posts.busy(), limit: posts.room() }));
      await step('picked');
    }
    await trigger.wait(shutUntil > performance.now() ? shutUntil - performance.now() : fallbackMs);
  }
}

const shutTime = ({ result }: Tried) =>
  result.kind === 'shut' ? performance.now() + result.retryAfterMs : 0;

/** Whether what waits to be posted must wait longer, or is not to be posted at all. */
const isStop = ({ result }: Tried) =>
  result.kind === 'shut' || (result.kind === 'answered' && (result.status === 410 || pauseOf(result) > 0));

type PostOptions = {
  readonly step: (step: SenderStep) => Promise<void>;
  /** Called when a post has ended. */
  readonly onEnd: () => void;
};

/**
 * Posts that run and that wait, at most one of each subject. The database knows nothing of them: a post that is lost
 * here is due again.
 */
function createPosts(post: Post, { step, onEnd }: PostOptions) {
  const known = new Map<number, string>();
  let waiting: Due[] = [];
  let finished: Tried[] = [];
  let running = 0;
  let failure: { readonly error: unknown } | undefined;
  const next = async (due: Due) => {
    try {
      const result = await post(due);
      await step('posted');
      finished.push({ due, result });
    } catch (error) {
      failure ??= { error };
    }
    running -= 1;
    start();
    onEnd();
  };
  const start = () => {
    while (running < deliveriesAtOnce && failure === undefined) {
      const due = waiting.shift();
      if (due === undefined) return;
      running += 1;
      void next(due);
    }
  };
  return {
    room: () => mostFetched - known.size,
    busy: () => [...known.values()],
    add(due: readonly Due[]) {
      for (const each of due) known.set(each.position, each.subject);
      waiting.push(...due);
      start();
    },
    /** @throws what a post has thrown */
    takeFinished(): readonly Tried[] {
      if (failure !== undefined) throw failure.error;
      const taken = finished;
      finished = [];
      return taken;
    },
    forget(tried: readonly Tried[]) {
      for (const { due } of tried) known.delete(due.position);
    },
    dropWaiting() {
      for (const { position } of waiting) known.delete(position);
      waiting = [];
    },
  };
}

function createPost({ secrets, paths }: RunnerParts, endpoint: Receiver, callee: Callee): Post {
  const { id, companyId, url, previousUntil } = endpoint;
  const opened = endpoint.secrets.map((sealed) => secrets.open(id, sealed));
  return (due) => {
    const isOverlap = previousUntil !== null && previousUntil.getTime() > Date.now();
    const body = JSON.stringify(newsToApi(due, { companyId, epoch: due.epoch, paths }));
    return tryDelivery(callee, {
      url,
      secrets: isOverlap ? opened : opened.slice(0, 1),
      newsId: due.id,
      body,
    });
  };
}

const isSuccess = (status: number) => status >= 200 && status < 300;

async function record({ db, jobs }: RunnerParts, id: string, tried: readonly Tried[]): Promise<void> {
  const outcomes = tried.flatMap(toOutcome);
  if (outcomes.length === 0) return;
  const pauseMs = Math.max(0, ...tried.map(({ result }) => pauseOf(result)));
  const succeeded = outcomes.some(({ delivered }) => delivered);
  const failed = outcomes.some(({ delivered }) => !delivered);
  const failingMs = await inTransaction(db, async (tx) => {
    const recorded = await recordOutcomes(tx, id, outcomes, { succeeded, failed, pauseMs });
    for (const at of recorded.nextTries) await jobs.enqueueAt(sendQueue, id, at, tx);
    return recorded.failingMs;
  });
  if (outcomes.some(({ status }) => status === 410)) await disableEndpoint(db, id, 'gone');
  else if (failingMs > disableAfterMs) await disableEndpoint(db, id, 'failing');
}

const pauseOf = (result: TryResult): number =>
  result.kind === 'answered' && !isSuccess(result.status) ? result.retryAfterMs : 0;

function toOutcome({ due, result }: Tried): TryOutcome[] {
  if (result.kind === 'shut') return [];
  const { position } = due;
  if (result.kind === 'unanswered') {
    const nextInMs = waitAfter(due.attempts + 1);
    return [{ position, delivered: false, status: null, answer: null, error: result.error, nextInMs }];
  }
  const { status, text: answer } = result;
  const delivered = isSuccess(status);
  const nextInMs = pauseOf(result) || waitAfter(due.attempts + 1);
  return [{ position, delivered, status, answer, error: null, nextInMs }];
}
