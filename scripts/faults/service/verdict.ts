import { type Answer, type Counts, commonDetails, countClasses, quantile } from '../../load/answers.ts';
import type { Write } from '../../load/ledger.ts';
import type { Aftermath, Fault } from './fault.ts';
import { type Figures, isSettled } from './process-figures.ts';

/** What came of a fault, and which of the demands were not met. */
export type Outcome = {
  readonly name: string;
  readonly about: string;
  readonly answers: Counts;
  readonly longestMs: number;
  /** Undefined when requests still failed when the patience was over. */
  readonly recoveryMs: number | undefined;
  readonly lost: number;
  readonly note: string;
  /** What a neighbour noticed, where the fault is another company. */
  readonly neighbour: NeighbourTimes | undefined;
  /** Slowest of 100 answers before the fault: what the machine was worth then. */
  readonly quietMs: number;
  readonly before: Figures;
  readonly after: Figures;
  /** In words; none when all demands are met. */
  readonly violations: readonly string[];
  readonly details: readonly string[];
};

type NeighbourTimes = {
  /** What it waits for the slowest of 100 answers, in quiet and meanwhile. */
  readonly quietMs: number;
  readonly duringMs: number;
  /** Its requests that were not served. */
  readonly failed: number;
};

type Found = {
  readonly fault: Fault;
  readonly answers: readonly Answer[];
  /** Those from before the fault. */
  readonly quiet: readonly Answer[];
  readonly faultEndedAt: number;
  readonly recoveredMs: number | undefined;
  readonly deadlineMs: number;
  readonly unfinished: number;
  readonly lost: readonly Write[];
  /** Writes that the fault itself took away. */
  readonly excused: number;
  readonly broken: readonly string[];
  readonly unhandled: readonly string[];
  readonly ended: readonly string[];
  readonly before: Figures;
  readonly after: Figures;
  readonly aftermath: Aftermath;
};

const mostRecoveryMs = 15_000;
/** How much slower the slowest of 100 answers to a neighbour may be than in quiet. */
const mostNeighbourRatio = 3;

export function judge(found: Found): Outcome {
  const { fault, answers, recoveredMs, lost, excused, aftermath } = found;
  return {
    name: fault.name,
    about: fault.about,
    answers: countClasses(answers),
    longestMs: Math.round(Math.max(0, ...answers.map(({ ms }) => ms))),
    recoveryMs: recoveredMs === undefined ? undefined : Math.round(recoveredMs),
    lost: lost.length,
    note: [
      busyNote(found),
      neighbourNote(found),
      aftermath.note,
      excused > 0 ? `${excused} writes that the replica lacked` : undefined,
    ]
      .filter(Boolean)
      .join('; '),
    neighbour: neighbourTimes(found),
    quietMs: Math.round(slowestOf100(found.quiet)),
    before: found.before,
    after: found.after,
    violations: violationsOf(found),
    details: commonDetails(answers),
  };
}

/** The outcome of a fault that could not be judged, so that the others are not lost. */
export function brokenOff({ name, about }: Fault, { message }: Error): Outcome {
  const nothing = { memoryMb: 0, descriptors: 0 };
  return {
    ...{ name, about, answers: countClasses([]), longestMs: 0, recoveryMs: undefined, lost: 0, note: '' },
    ...{ neighbour: undefined, quietMs: 0, before: nothing, after: nothing, details: [] },
    violations: [`not judged: ${message.slice(0, 200)}`],
  };
}

type Demand = readonly [isBroken: boolean, words: string];

function violationsOf(found: Found): string[] {
  const { fault, answers, recoveredMs, unfinished, before, after } = found;
  const { wrong, cut, late } = countClasses(answers);
  const tooLate = answers.filter(({ ms }) => ms > found.deadlineMs).length;
  const demands: readonly Demand[] = [
    [wrong > 0, `${wrong} answers that are neither served nor 502 or 503 with Retry-After`],
    [cut > 0 && fault.cuts !== true, `${cut} requests cut off`],
    [
      late > 0 || tooLate > 0,
      `${Math.max(late, tooLate)} requests without an answer in ${found.deadlineMs / 1_000} s`,
    ],
    [recoveredMs === undefined, 'not recovered without a restart'],
    [(recoveredMs ?? 0) > mostRecoveryMs, `recovered after ${Math.round((recoveredMs ?? 0) / 1_000)} s`],
    [found.lost.length > 0, `${found.lost.length} accepted writes lost`],
    [unfinished > 0, `${unfinished} accepted mints stand still`],
    [found.broken.length > 0, found.broken.slice(0, 3).join(', ')],
    [found.unhandled.length > 0, `unhandled: ${found.unhandled[0]?.slice(0, 160)}`],
    [found.ended.length > 0, `ended: ${found.ended.join(', ')}`],
    [
      !isSettled(before, after),
      `memory ${before.memoryMb} to ${after.memoryMb} MB, descriptors ${before.descriptors} to ${after.descriptors}`,
    ],
    ...neighbourDemands(found),
  ];
  return demands.filter(([isBroken]) => isBroken).map(([, words]) => words);
}

function neighbourTimes({ fault, quiet, answers, faultEndedAt }: Found): NeighbourTimes | undefined {
  if (fault.neighbour === undefined) return undefined;
  const during = answers.filter(({ at }) => at < faultEndedAt);
  const p99 = (all: readonly Answer[]) =>
    quantile(
      all.filter(({ company }) => company === fault.neighbour).map(({ ms }) => ms),
      0.99,
    );
  const failed = during.filter(
    (answer) => answer.company === fault.neighbour && answer.class !== 'ok',
  ).length;
  return { quietMs: p99(quiet), duringMs: p99(during), failed };
}

function neighbourDemands(found: Found): Demand[] {
  const times = neighbourTimes(found);
  if (times === undefined) return [];
  const ratio = times.duringMs / times.quietMs;
  return [
    [ratio >= mostNeighbourRatio, `the neighbour waits ${ratio.toFixed(1)} times as long`],
    [times.failed > 0, `${times.failed} requests of the neighbour not served`],
  ];
}

/** Where answers took their time before anything was wrong, the machine had other work. */
function busyNote({ quiet }: Found): string | undefined {
  const p99 = slowestOf100(quiet);
  return p99 > busyMs
    ? `the machine was busy: p99 ${(p99 / 1_000).toFixed(1)} s before the fault`
    : undefined;
}

const busyMs = 1_000;
const slowestOf100 = (answers: readonly Answer[]) =>
  quantile(
    answers.map(({ ms }) => ms),
    0.99,
  );

function neighbourNote(found: Found): string | undefined {
  const times = neighbourTimes(found);
  return times && `p99 of the neighbour ${Math.round(times.quietMs)} to ${Math.round(times.duringMs)} ms`;
}
