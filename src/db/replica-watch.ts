import { randomUUID } from 'node:crypto';
import type { Database } from '../contract/transaction.ts';
import { inTime } from '../in-time.ts';
import type { Logger } from '../log.ts';
import { endBeats, type ReplicaAnswer, storeBeat } from './replica-heartbeat-store.ts';
import { createReplicaQuestion } from './replica-question.ts';

export const replicaStates = ['starting', 'used', 'lagging', 'silent', 'promoted', 'foreign'] as const;

/** `starting` has shown no beat yet, `promoted` is no replica any more, `foreign` one of another database. */
export type ReplicaState = (typeof replicaStates)[number];

export type ReplicaWatch = {
  /** @returns undefined while the replica is not to be read from; else what aborts when it does not answer any more */
  use(): AbortSignal | undefined;
  state(): ReplicaState;
  /** How old what it shows is at most; undefined before the first beat that it shows. */
  lagMs(): number | undefined;
  stop(): Promise<void>;
};

type Options = {
  readonly db: Database;
  /** Of the replica. */
  readonly url: string;
  /** How far the replica may be behind. */
  readonly maxLagMs: number;
  readonly log: Logger;
  /** Called when the replica does not answer any more; its connections are not to be trusted. */
  readonly onSilent: () => void;
};

const lookMs = 1_000;
const limitMs = 1_000;
// Of a replica that is further behind, how far is of no interest.
const mostBeats = 3_600;

/**
 * Keeps count of how old what a replica shows is at most. Each second a beat is stored in the database, and the replica
 * asked for the newest that it has: everything that was committed before that beat was sent is there. It may be read from
 * until that moment is `maxLagMs` ago, so whatever keeps this process from looking also ends the use.
 */
export function watchReplica({ db, url, maxLagMs, log, onSilent }: Options): ReplicaWatch {
  const name = randomUUID();
  const question = createReplicaQuestion(url, limitMs);
  const began = performance.now();
  const sent = new Map<number, number>();
  let newest = 0;
  let beating: Promise<string> | undefined;
  let cluster: string | undefined;
  let asOf: number | undefined;
  let found: ReplicaState = 'starting';
  let told: ReplicaState = 'starting';
  let silence = new AbortController();

  const state = (): ReplicaState => {
    const isOld = performance.now() >= (asOf ?? began) + maxLagMs;
    return isOld && (found === 'used' || found === 'starting') ? 'lagging' : found;
  };

  const beat = async () => {
    if (beating === undefined) {
      newest += 1;
      sent.set(newest, performance.now());
      if (sent.size > mostBeats)
        for (const oldest of [...sent.keys()].slice(0, -mostBeats)) sent.delete(oldest);
      beating = storeBeat(db, name, newest).finally(() => {
        beating = undefined;
      });
    }
    cluster = await inTime(beating, limitMs);
  };

  const judge = ({ beat: shown, isReplica, cluster: shownBy }: ReplicaAnswer): ReplicaState => {
    if (!isReplica) return 'promoted';
    if (cluster !== undefined && shownBy !== cluster) return 'foreign';
    const at = shown === undefined ? undefined : sent.get(shown);
    if (shown === undefined || at === undefined) return asOf === undefined ? 'starting' : 'lagging';
    asOf = at;
    for (const older of sent.keys()) if (older < shown) sent.delete(older);
    return performance.now() < at + maxLagMs ? 'used' : 'lagging';
  };

  const look = async () => {
    // Without a beat, what it shows still tells how old it is.
    const fault = await beat().then(() => undefined, reasonOf);
    try {
      found = judge(await question.ask(name));
      tell(fault);
    } catch (error) {
      found = 'silent';
      silence.abort(new ReplicaLostError());
      silence = new AbortController();
      if (told !== 'silent') onSilent();
      tell(reasonOf(error));
    }
  };

  const tell = (reason: string | undefined) => {
    const now = state();
    if (now === told) return;
    told = now;
    const facts = { state: now, lagSeconds: asOf && Math.round(performance.now() - asOf) / 1_000 };
    if (now === 'used') log.info(facts, 'replica of the database is read from');
    else log.warn({ ...facts, reason }, 'replica of the database is not read from, the primary is');
  };

  const loop = createLoop(look);
  return {
    use: () => (state() === 'used' ? silence.signal : undefined),
    state,
    lagMs: () => asOf && performance.now() - asOf,
    async stop() {
      await loop.stop();
      question.close();
      // Beats that stay are deleted by whoever ends next.
      await inTime(endBeats(db, name), limitMs).catch(() => {});
    },
  };
}

/** The replica does not answer any more, so what is asked of it is asked elsewhere. */
export class ReplicaLostError extends Error {
  constructor() {
    super('The replica of the database does not answer.');
    this.name = 'ReplicaLostError';
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Looks at once, and then each second or, where a look takes longer, after it. */
function createLoop(look: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const run = async () => {
    const began = performance.now();
    await look();
    if (isOver) return;
    timer = setTimeout(start, Math.max(0, lookMs - (performance.now() - began))).unref();
  };
  const start = () => {
    running = run();
  };
  let running: Promise<void> = run();
  return {
    async stop() {
      isOver = true;
      clearTimeout(timer);
      await running;
    },
  };
}
