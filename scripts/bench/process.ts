import { setTimeout as pause } from 'node:timers/promises';
import { coreSeconds, residentMb } from './http/cores.ts';
import { type DataSet, openWithChain } from './http/data-set.ts';
import { type Subject, startPeer, startService } from './http/subject.ts';
import { areHeld, atMost, below } from './limits.ts';
import { rounded, type Suite } from './suite.ts';

type Environment = Readonly<Record<string, string>>;
type Idle = { readonly transactionsPerSecond: number; readonly corePercent: number };

const starts = 5;
// Until caches, pools and timers are as they stay.
const settleMs = 10_000;
const sampleMs = 20;

export const processSuite: Suite = {
  about: 'Start, idleness, and memory for a list of 100,000 events; about a minute',
  async run({ isQuick, say }) {
    await using opened = new AsyncDisposableStack();
    const data = await openWithChain(opened, { isQuick, isWritten: false, say });
    const env = { DATABASE_URL: data.url };
    const readyMs = await startTimes(() => startService(env));
    const peerReadyMs = await startTimes(() => startPeer(env));
    say(`ready after ${readyMs.join(', ')} ms, Fastify written by hand after ${peerReadyMs.join(', ')} ms`);
    const idle = await idleness(env, data, isQuick ? 10 : 40);
    say(`idle: ${idle.transactionsPerSecond} transactions a second, ${idle.corePercent} % of a core`);
    const list = await listMemory(env, data);
    say(
      `all ${data.events} events: ${list.bytes} bytes, ${list.beforeMb} MB before, ${list.mostMb} MB at most`,
    );
    const limits = {
      readyMs: below(middleOf(readyMs), 1_000),
      idleTransactionsPerSecond: atMost(idle.transactionsPerSecond, 5),
      idleCorePercent: atMost(idle.corePercent, 1),
      listMemoryMb: atMost(list.mostMb - list.beforeMb, 50),
    };
    const beside = { readyMsByHand: middleOf(peerReadyMs) };
    return { ok: areHeld(limits), limits, beside, readyMs, peerReadyMs, idle, list };
  },
};

/** From the start of a process for callers until it says that it is ready, in milliseconds. */
async function startTimes(startOne: () => Promise<Subject>): Promise<number[]> {
  const found: number[] = [];
  for (let start = 0; start < starts; start += 1) {
    const subject = await startOne();
    found.push(Math.round(subject.readyMs));
    await subject.stop();
  }
  return found;
}

/** What a process of all roles, with one network, does while nobody asks. */
async function idleness(env: Environment, { db }: DataSet, seconds: number): Promise<Idle> {
  const service = await startService({ ...env, ROLES: 'api,worker,indexer' });
  try {
    await pause(settleMs);
    const [core, begun, transactions] = [
      coreSeconds(service.pid),
      performance.now(),
      await transactionsOf(db),
    ];
    await pause(seconds * 1_000);
    const took = (performance.now() - begun) / 1_000;
    return {
      transactionsPerSecond: rounded(((await transactionsOf(db)) - transactions) / took),
      corePercent: rounded(((coreSeconds(service.pid) - core) / took) * 100),
    };
  } finally {
    await service.stop();
  }
}

async function transactionsOf(db: DataSet['db']): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: string }[] }>(
    'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.count);
}

/** What a process holds, at most, while it answers with all events of a company. */
async function listMemory(env: Environment, { key }: DataSet) {
  const service = await startService(env);
  try {
    const url = `http://127.0.0.1:${service.port}/events/v1/api/event`;
    const ask = (query: string) => fetch(`${url}${query}`, { headers: { 'x-api-key': key } });
    for (let warm = 0; warm < 200; warm += 1) await (await ask('?limit=200')).arrayBuffer();
    const beforeMb = residentMb(service.pid);
    let mostMb = beforeMb;
    const sampling = setInterval(() => {
      mostMb = Math.max(mostMb, residentMb(service.pid));
    }, sampleMs);
    let bytes = 0;
    for await (const piece of (await ask('')).body ?? []) bytes += piece.length;
    clearInterval(sampling);
    return { bytes, beforeMb, mostMb };
  } finally {
    await service.stop();
  }
}

const middleOf = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
