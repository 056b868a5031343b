import { setTimeout as pause } from 'node:timers/promises';
import { getAddress, hexlify, randomBytes } from 'ethers';
import { chainId } from '../../../bench/mint/bench-chain.ts';
import { quantile } from '../../../load/answers.ts';
import { type Caller, createCaller, type Wanted } from '../../../load/caller.ts';
import { startNoise } from '../../../load/noise.ts';
import type { GreedyTask, NoiseFigures } from '../../../load/noise-process.ts';
import { type Replica, startReplica } from '../../../load/replica.ts';
import { until } from '../../../load/until.ts';
import { worldKeys } from '../../../load/world.ts';
import type { Fault, Stage } from '../fault.ts';
import { isSettled, mostOf } from '../figures.ts';
import { type FloodGoods, stockFlooder } from './flood-goods.ts';

/** Work that waits: for a node, for news, for a worker, in a cache. */
type Flood = { readonly name: string; readonly task: (goods: FloodGoods) => Omit<GreedyTask, 'key'> };

const checkInBody = ({ attendees }: FloodGoods) => JSON.stringify({ items: attendees });

const floods: readonly Flood[] = [
  {
    name: 'readings of 200 entries',
    task: ({ largeEvent }) => ({ path: `${largeEvent}/eligibility?wallet={wallet}`, callers: 100 }),
  },
  {
    name: 'check-ins of 200 wallets',
    task: (goods) => ({ path: `${goods.door}/checkin`, body: checkInBody(goods), callers: 50 }),
  },
  {
    name: 'balances',
    task: () => ({
      path: `/blockchain/v1/api/token/balance?chainId=${chainId}&address={wallet}`,
      callers: 200,
    }),
  },
  {
    name: 'snapshots of moments',
    task: ({ rwa }) => ({ path: `${rwa}/snapshot`, body: '{"asOf":"{moment}"}', callers: 100 }),
  },
  {
    name: 'holders of moments',
    task: ({ rwa }) => ({ path: `${rwa}/holders?asOf={moment}`, callers: 100 }),
  },
  {
    name: 'waiting readers',
    task: ({ endOfFeed }) => ({
      path: `/news/v1/api/feed?types=event.deleted&after=${endOfFeed}`,
      headers: { prefer: 'wait=60' },
      callers: 300,
    }),
  },
  {
    name: 'news of a rare type',
    task: () => ({ path: '/news/v1/api/feed?types=event.deleted&limit=200', callers: 50 }),
  },
];

// Other work of the machine counts in both: each flood is between two quiet windows.
const quietSeconds = 8;
const floodSeconds = 12;
const restSeconds = 3;
const neighbourPerSecond = 20;
const mostRatio = 5;
// Enough for a median of each kind on a machine that is busy.
const leastRequests = 45;
const settleMs = 60_000;
/** The first answers find code that is not compiled yet. */
const warmUpSeconds = 5;

const newAddress = () => getAddress(hexlify(randomBytes(20)));
const get = (kind: string, path: string): Wanted => ({ kind, method: 'GET', path });

/** What the neighbour asks for: of the database, and of a node. */
const questionsOf = ({ world: { globex } }: Stage, turn: number): Wanted => {
  const balance = `/blockchain/v1/api/token/balance?chainId=${chainId}&address=${newAddress()}`;
  const questions = [
    () => get('balance', balance),
    () => get('events', '/events/v1/api/event?limit=20'),
    () => get('holders', `/v1/api/rwa/${globex.rwas[0]}/holders`),
  ];
  return questions[turn % questions.length]?.() ?? get('balance', balance);
};

type Times = ReadonlyMap<string, readonly number[]>;
type Window = { readonly times: Times; readonly failed: readonly string[] };

/**
 * Asks at a steady rate for so many seconds, one after the other. @returns times by kind, and the requests that were
 * not served
 */
async function askCalmly(stage: Stage, caller: Caller, seconds: number): Promise<Window> {
  const times = new Map<string, number[]>();
  const failed: string[] = [];
  const end = performance.now() + seconds * 1_000;
  for (let turn = 0; performance.now() < end || turn < leastRequests; turn += 1) {
    const { kind, ms, class: found, detail } = await caller.ask(questionsOf(stage, turn));
    times.set(kind, [...(times.get(kind) ?? []), ms]);
    if (found !== 'ok') failed.push(`${kind} ${found} ${detail}`);
    await pause(Math.max(0, 1_000 / neighbourPerSecond - ms));
  }
  return { times, failed };
}

/** The times of two windows together. */
const both = (one: Times, other: Times): Times =>
  new Map([...one].map(([kind, times]) => [kind, [...times, ...(other.get(kind) ?? [])]]));

const medianOf = (times: Times, kind: string) => quantile(times.get(kind) ?? [], 0.5);

/** The requests of a window that took too long, compared with quiet windows. */
function compare(quiet: Times, during: Window, name: string): string[] {
  const slow = [...quiet.keys()].flatMap((kind) => {
    const ratio = medianOf(during.times, kind) / medianOf(quiet, kind);
    return ratio <= mostRatio
      ? []
      : [`${name}: the neighbour's ${kind} take ${ratio.toFixed(1)} times as long`];
  });
  const [first] = during.failed;
  return first === undefined ? slow : [...slow, `${name}: ${during.failed.length} not served, ${first}`];
}

/** The median of each kind in ms, and how many times as long as in quiet that is. */
const ratiosOf = (quiet: Times, { times }: Window) =>
  [...times.keys()]
    .map((kind) => {
      const ms = medianOf(times, kind);
      return `${kind} ${ms.toFixed(1)} ms (${(ms / medianOf(quiet, kind)).toFixed(1)}×)`;
    })
    .join(', ');

const wordsOf = ({ asked, by }: NoiseFigures) =>
  `${asked} (${Object.entries(by)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')})`;

/** Begins one flood after the other, while the neighbour asks. */
async function floodAll(stage: Stage, alone: Replica, goods: FloodGoods) {
  const { globex, acme } = stage.world;
  const ofGlobex = { company: globex.name, key: globex.key, address: '127.0.0.77' };
  const caller = createCaller({ port: alone.port, ...ofGlobex });
  const violations: string[] = [];
  const notes: string[] = [];
  try {
    await askCalmly(stage, caller, warmUpSeconds);
    const first = await askCalmly(stage, caller, quietSeconds);
    let quiet = first;
    const before = mostOf([alone]);
    for (const { name, task } of floods) {
      const leave = startNoise([alone], { key: acme.otherKey, ...task(goods) });
      await pause(1_000);
      const during = await askCalmly(stage, caller, floodSeconds);
      const figures = await leave();
      if (figures.asked < 50) violations.push(`${name}: did not happen: ${wordsOf(figures)}`);
      const end = alone.ended();
      if (end !== undefined)
        return { violations: [...violations, `${name}: the process ended, ${end}`], notes };
      await pause(restSeconds * 1_000);
      const after = await askCalmly(stage, caller, quietSeconds);
      const around = both(quiet.times, after.times);
      violations.push(
        ...compare(around, during, name),
        ...after.failed.map((words) => `after ${name}: ${words}`),
      );
      notes.push(`${name} ${wordsOf(figures)}: ${ratiosOf(around, during)}`);
      quiet = after;
    }
    violations.push(...compare(first.times, quiet, 'after all floods'));
    const isBack = () => isSettled(before, mostOf([alone]));
    await until(isBack, 'memory or descriptors', settleMs).catch((error: Error) =>
      violations.push(error.message),
    );
    return { violations, notes };
  } finally {
    caller.close();
  }
}

/** What one key does with work that waits, in one process with default settings and little memory. */
export const companyFloods: Fault = {
  name: 'floods of one company',
  about: `${floods.map(({ name }) => name).join(', ')}; in one process with a heap of 384 MB`,
  seconds: 0,
  async begin(stage) {
    const { around } = stage;
    const alone = await startReplica({
      name: 'alone',
      folder: around.folder,
      nodeOptions: ['--max-old-space-size=384'],
      settings: { ...worldKeys, DATABASE_URL: around.postgres().url },
    });
    try {
      const goods = await stockFlooder(stage, alone.port);
      const { violations, notes } = await floodAll(stage, alone, goods);
      const unhandled = alone.unhandled().map((line) => `unhandled: ${line.slice(0, 160)}`);
      return async () => ({ acted: true, note: notes.join('; '), violations: [...violations, ...unhandled] });
    } finally {
      if (alone.ended() === undefined) await alone.stop();
    }
  },
};
