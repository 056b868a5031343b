import { setTimeout as pause } from 'node:timers/promises';
import { createProgress } from '../../src/cli/shared/progress.ts';
import { allFaults } from '../faults/service/all-faults.ts';
import type { Aftermath, Fault, Stage } from '../faults/service/fault.ts';
import { leftBehind } from '../faults/service/left-behind.ts';
import { openStage } from '../faults/service/stage.ts';
import { startUsualLoad } from '../faults/service/usual-load.ts';
import { type Counts, countClasses, quantile } from '../load/answers.ts';
import { type Happened, type Quiet, violationsOf } from './demands.ts';
import { type Growth, growthOf } from './growth.ts';
import { sampleOf } from './samples.ts';

export type SoakOutcome = {
  readonly minutes: number;
  readonly seed: number;
  readonly answers: Counts;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>;
  readonly writes: number;
  readonly growth: readonly Growth[];
  /** In words; none when all demands are met. */
  readonly violations: readonly string[];
};

type SoakOptions = {
  readonly folder: string;
  readonly minutes: number;
  readonly perSecond: number;
  /** Which fault is the first: what a short run does not reach, one with another seed does. */
  readonly seed: number;
};

/** Those that leave the processes as they are. */
const chosen = [
  'PostgreSQL killed',
  'connections black-holed',
  'nodes absent',
  'nodes silent',
  'upstream slow',
  'PostgreSQL read-only',
  'slow readers',
  'abandoned pipelines',
  'flood with invented keys',
];

const warmUpMs = 20_000;
const quietMs = 20_000;
const sampleMs = 5_000;
/** After a fault, until what it has left is gone. */
const settleMs = 15_000;

/** Runs the load, the faults and the samples in turns until the time is over. */
export async function runSoak({ folder, minutes, perSecond, seed }: SoakOptions): Promise<SoakOutcome> {
  await using opened = new AsyncDisposableStack();
  const stage = await openStage(folder, opened);
  const progress = createProgress(process.stderr, 'soak');
  const [begun, lasting] = [performance.now(), minutes * 60_000];
  const tell = () => progress.update(Math.round((performance.now() - begun) / 1_000), lasting / 1_000);
  const load = startUsualLoad(stage, perSecond);
  const quiet: Quiet = { samples: new Map(), stretches: [], looks: 0 };
  const faults: Record<string, number> = {};
  const aftermaths: Happened[] = [];
  await pause(warmUpMs);
  for (let turn = 0; performance.now() - begun < lasting; turn += 1) {
    await sampleQuiet(stage, quiet, tell);
    // A fault that begins before would be blamed on the quiet.
    await load.untilAnswered();
    const fault = faultOf(seed + turn);
    faults[fault.name] = (faults[fault.name] ?? 0) + 1;
    aftermaths.push({ name: fault.name, aftermath: await happen(fault, stage) });
    await pause(settleMs);
    tell();
  }
  await sampleQuiet(stage, quiet, tell);
  await load.stop();
  progress.stop();
  const times = load.answers.map(({ ms }) => ms);
  const growth = [...quiet.samples].flatMap(([name, some]) => growthOf(name, some));
  const processes = stage.service.replicas().map(({ name }) => name);
  const left = await leftBehind(stage, {});
  return {
    ...{ minutes, seed, faults, growth, writes: stage.ledger.writes.length },
    answers: countClasses(load.answers),
    p99Ms: Math.round(quantile(times, 0.99)),
    longestMs: Math.round(quantile(times, 1)),
    violations: violationsOf({ answers: load.answers, processes, quiet, growth, left, aftermaths }),
  };
}

function faultOf(turn: number): Fault {
  const name = chosen[turn % chosen.length];
  const fault = allFaults.find((each) => each.name === name);
  if (fault === undefined) throw new Error(`There is no fault ${name}.`);
  return fault;
}

async function happen(fault: Fault, stage: Stage): Promise<Aftermath> {
  const end = await fault.begin(stage);
  await pause(fault.seconds * 1_000);
  return end();
}

async function sampleQuiet({ service, around }: Stage, quiet: Quiet, tell: () => void) {
  service.dropIdle();
  const begun = performance.now();
  for (let ms = 0; ms < quietMs; ms += sampleMs) {
    quiet.looks += 1;
    for (const replica of service.replicas()) {
      const sample = await sampleOf(replica, around.folder);
      if (sample) quiet.samples.set(replica.name, [...(quiet.samples.get(replica.name) ?? []), sample]);
    }
    await pause(sampleMs);
    tell();
  }
  quiet.stretches.push([begun, performance.now()]);
}
