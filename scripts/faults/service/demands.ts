import { type Answer, countClasses, quantile } from '../../load/answers.ts';
import { deadlineMs } from '../../load/caller.ts';
import type { Background } from './background.ts';
import type { Aftermath, Fault } from './fault.ts';
import { type Figures, isBounded, isSettled } from './figures.ts';
import type { leftBehind } from './left-behind.ts';

/** All facts about a fault that has happened. */
export type Found = Awaited<ReturnType<typeof leftBehind>> & {
  readonly fault: Fault;
  readonly answers: readonly Answer[];
  /** Those from before the fault. */
  readonly quiet: readonly Answer[];
  readonly recoveredMs: number | undefined;
  readonly background: Background;
  readonly before: Figures;
  readonly peak: Figures;
  readonly after: Figures;
  readonly aftermath: Aftermath;
};

const mostRecoveryMs = 15_000;
/** How much slower the slowest of 100 answers to a neighbour may be than in quiet. */
const mostNeighbourRatio = 5;

type Demand = readonly [isBroken: boolean, words: string];

/** The demands that were not met, in words. */
export function violationsOf(found: Found): string[] {
  const demands = [
    ...answerDemands(found),
    ...recoveryDemands(found),
    ...storeDemands(found),
    ...processDemands(found),
    ...neighbourDemands(found),
  ];
  return [
    ...demands.filter(([isBroken]) => isBroken).map(([, words]) => words),
    ...(found.aftermath.violations ?? []),
  ];
}

function answerDemands({ fault, answers, quiet, aftermath }: Found): Demand[] {
  const { ok, wrong, cut, late } = countClasses(answers);
  const tooLate = Math.max(late, answers.filter(({ ms }) => ms > deadlineMs).length);
  const unserved = answers.length - ok;
  const inQuiet = quiet.filter((answer) => answer.class !== 'ok').length;
  return [
    [!aftermath.acted, 'nothing shows that the fault happened'],
    [quiet.length === 0, 'nothing was asked before'],
    [inQuiet > 0, `${inQuiet} of ${quiet.length} requests not served before`],
    [wrong > 0, `${wrong} answers that are neither served nor 502 or 503 with Retry-After`],
    [cut > 0 && fault.cuts !== true, `${cut} requests cut off`],
    [tooLate > 0, `${tooLate} requests without an answer in ${deadlineMs / 1_000} s`],
    [fault.servesAll === true && unserved > 0, `${unserved} of ${answers.length} requests not served`],
  ];
}

function recoveryDemands({ fault, recoveredMs, background: { mintMs, indexMs } }: Found): Demand[] {
  const isLate = (ms: number | undefined, most = mostRecoveryMs) => ms !== undefined && ms > most;
  const after = (ms = 0) => `after ${Math.round(ms / 1_000)} s`;
  return [
    [recoveredMs === undefined, 'not recovered without a restart'],
    [isLate(recoveredMs, fault.recoveryMs), `recovered ${after(recoveredMs)}`],
    [mintMs === undefined, 'a mint afterwards is never minted'],
    [isLate(mintMs), `a mint afterwards is minted ${after(mintMs)}`],
    [indexMs === undefined, 'the index does not go on'],
    [isLate(indexMs), `the index is at the head ${after(indexMs)}`],
  ];
}

const storeDemands = ({ lost, unfinished, broken }: Found): Demand[] => [
  [lost.length > 0, `${lost.length} accepted writes lost`],
  [unfinished > 0, `${unfinished} accepted mints stand still`],
  [broken.length > 0, broken.slice(0, 3).join(', ')],
];

function processDemands({ fault, unhandled, ended, before, peak, after }: Found): Demand[] {
  const between = (other: Figures) =>
    `${before.memoryMb} to ${other.memoryMb} MB, descriptors ${before.descriptors} to ${other.descriptors}`;
  return [
    [unhandled.length > 0, `unhandled: ${unhandled[0]?.slice(0, 160)}`],
    [ended.length > 0, `ended: ${ended.join(', ')}`],
    [!isBounded(before, peak, fault.connections), `memory at its peak ${between(peak)}`],
    [!isSettled(before, after), `memory ${between(after)}`],
  ];
}

const slowestOf100 = (answers: readonly Answer[]): number =>
  quantile(
    answers.map(({ ms }) => ms),
    0.99,
  );

/** What a neighbour waits for the slowest of 100 answers in quiet, and in each part of the fault. */
export function neighbourTimes({ fault, quiet, answers, aftermath: { parts = [] } }: Found) {
  const ofNeighbour = (all: readonly Answer[]) => all.filter(({ company }) => company === fault.neighbour);
  return {
    quietMs: slowestOf100(ofNeighbour(quiet)),
    parts: parts.map(({ name, from, to }) => {
      const during = ofNeighbour(answers).filter(({ at }) => at >= from && at <= to);
      const failed = during.filter((answer) => answer.class !== 'ok').length;
      return { name, ms: slowestOf100(during), asked: during.length, failed };
    }),
  };
}

function neighbourDemands(found: Found): Demand[] {
  const { quietMs, parts } = neighbourTimes(found);
  return parts.flatMap(({ name, ms, asked, failed }): Demand[] => {
    const ratio = ms / quietMs;
    return [
      [asked === 0, `${name}: the neighbour asked for nothing`],
      [ratio >= mostNeighbourRatio, `${name}: the neighbour waits ${ratio.toFixed(1)} times as long`],
      [failed > 0, `${name}: ${failed} of ${asked} requests of the neighbour not served`],
    ];
  });
}
