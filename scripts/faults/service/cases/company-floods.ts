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

const quietSeconds = 15;
const floodSeconds = 12;
const restSeconds = 3;
const neighbourPerSecond = 20;
const mostRatio = 5;
const settleMs = 60_000;
/** The first answers find code that is not compiled yet. */
const warmUpRequests = 60;

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

/** Asks at a steady rate for so many requests, one after the other. @returns times by kind, and what was not served */
async function askCalmly(stage: Stage, caller: Caller, requests: number) {
  const times = new Map<string, number[]>();
  const failed: string[] = [];
  for (let turn = 0; turn < requests; turn += 1) {
    const { kind, ms, class: found, detail } = await caller.ask(questionsOf(stage, turn));
    times.set(kind, [...(times.get(kind) ?? []), ms]);
    if (found !== 'ok') failed.push(`${kind} ${found} ${detail}`);
    await pause(Math.max(0, 1_000 / neighbourPerSecond - ms));
  }
  return { times, failed };
}

const medianOf = (times: Times, kind: string) => quantile(times.get(kind) ?? [], 0.5);

function compare(quiet: Times, during: Awaited<ReturnType<typeof askCalmly>>, name: string): string[] {
  const slow = [...quiet.keys()].flatMap((kind) => {
    const ratio = medianOf(during.times, kind) / medianOf(quiet, kind);
    return ratio <= mostRatio
      ? []
      : [`${name}: the neighbour's ${kind} take ${ratio.toFixed(1)} times as long`];
  });
  const [first] = during.failed;
  return first === undefined ? slow : [...slow, `${name}: ${during.failed.length} not served, ${first}`];
}

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
    await askCalmly(stage, caller, warmUpRequests);
    const quiet = await askCalmly(stage, caller, quietSeconds * neighbourPerSecond);
    violations.push(...quiet.failed.map((words) => `in quiet: ${words}`));
    const before = mostOf([alone]);
    for (const { name, task } of floods) {
      const leave = startNoise([alone], { key: acme.otherKey, ...task(goods) });
      await pause(1_000);
      const during = await askCalmly(stage, caller, floodSeconds * neighbourPerSecond);
      const figures = await leave();
      notes.push(`${name} ${wordsOf(figures)}: balance ${medianOf(during.times, 'balance').toFixed(1)} ms`);
      violations.push(...compare(quiet.times, during, name));
      if (figures.asked < 50) violations.push(`${name}: did not happen: ${wordsOf(figures)}`);
      const end = alone.ended();
      if (end !== undefined)
        return { violations: [...violations, `${name}: the process ended, ${end}`], notes };
      await pause(restSeconds * 1_000);
    }
    const isBack = () => isSettled(before, mostOf([alone]));
    await until(isBack, 'memory or descriptors', settleMs).catch((error: Error) =>
      violations.push(error.message),
    );
    notes.push(`balance in quiet ${medianOf(quiet.times, 'balance').toFixed(1)} ms`);
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
