import { setTimeout as pause } from 'node:timers/promises';
import { createProgress } from '../../src/cli/shared/progress.ts';
import { allFaults } from '../faults/service/all-faults.ts';
import type { Fault, Stage } from '../faults/service/fault.ts';
import { leftBehind } from '../faults/service/left-behind.ts';
import { openStage } from '../faults/service/stage.ts';
import { deadlineMs, startUsualLoad } from '../faults/service/usual-load.ts';
import { type Counts, countClasses, quantile } from '../load/answers.ts';
import { type Growth, growthOf } from './growth.ts';
import { type Sample, sampleOf } from './samples.ts';

export type SoakOutcome = {
  readonly minutes: number;
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

type SoakOptions = { readonly folder: string; readonly minutes: number; readonly perSecond: number };

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
export async function runSoak({ folder, minutes, perSecond }: SoakOptions): Promise<SoakOutcome> {
  await using opened = new AsyncDisposableStack();
  const stage = await openStage(folder, opened);
  const progress = createProgress(process.stderr, 'soak');
  const [begun, lasting] = [performance.now(), minutes * 60_000];
  const tell = () => progress.update(Math.round((performance.now() - begun) / 1_000), lasting / 1_000);
  const load = startUsualLoad(stage, perSecond);
  const samples = new Map<string, Sample[]>();
  const faults: Record<string, number> = {};
  await pause(warmUpMs);
  for (let turn = 0; performance.now() - begun < lasting; turn += 1) {
    await sampleQuiet(stage, samples, tell);
    const fault = faultOf(turn);
    faults[fault.name] = (faults[fault.name] ?? 0) + 1;
    await happen(fault, stage);
    await pause(settleMs);
    tell();
  }
  await sampleQuiet(stage, samples, tell);
  await load.stop();
  progress.stop();
  const answers = countClasses(load.answers);
  const times = load.answers.map(({ ms }) => ms);
  const growth = [...samples].flatMap(([name, some]) => growthOf(name, some));
  const left = await leftBehind(stage, {});
  return {
    ...{ minutes, answers, faults, growth, writes: stage.ledger.writes.length },
    p99Ms: Math.round(quantile(times, 0.99)),
    longestMs: Math.round(quantile(times, 1)),
    violations: violationsOf(answers, growth, left),
  };
}

function faultOf(turn: number): Fault {
  const name = chosen[turn % chosen.length];
  const fault = allFaults.find((each) => each.name === name);
  if (fault === undefined) throw new Error(`There is no fault ${name}.`);
  return fault;
}

async function happen(fault: Fault, stage: Stage): Promise<void> {
  const end = await fault.begin(stage);
  await pause(fault.seconds * 1_000);
  await end();
}

async function sampleQuiet({ service, around }: Stage, into: Map<string, Sample[]>, tell: () => void) {
  service.dropIdle();
  for (let ms = 0; ms < quietMs; ms += sampleMs) {
    for (const replica of service.replicas()) {
      const sample = await sampleOf(replica, around.folder);
      if (sample) into.set(replica.name, [...(into.get(replica.name) ?? []), sample]);
    }
    await pause(sampleMs);
    tell();
  }
}

type Left = Awaited<ReturnType<typeof leftBehind>>;

function violationsOf({ wrong, cut, late }: Counts, growth: readonly Growth[], left: Left): string[] {
  const demands: readonly [isBroken: boolean, words: string][] = [
    [wrong > 0, `${wrong} answers that are neither served nor 502 or 503 with Retry-After`],
    [cut > 0, `${cut} requests cut off`],
    [late > 0, `${late} requests without an answer in ${deadlineMs / 1_000} s`],
    [left.lost.length > 0, `${left.lost.length} accepted writes lost`],
    [left.unfinished > 0, `${left.unfinished} accepted mints stand still`],
    [left.broken.length > 0, left.broken.slice(0, 3).join(', ')],
    [left.unhandled.length > 0, `unhandled: ${left.unhandled[0]?.slice(0, 160)}`],
    [left.ended.length > 0, `ended: ${left.ended.join(', ')}`],
  ];
  const grown = growth.filter(({ isFlat }) => !isFlat);
  return [
    ...demands.filter(([isBroken]) => isBroken).map(([, words]) => words),
    ...grown.map(
      ({ process: name, quantity, first, last }) => `${quantity} of ${name} grows: ${first} to ${last}`,
    ),
  ];
}
