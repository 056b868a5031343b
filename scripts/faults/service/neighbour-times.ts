import { type Answer, quantile } from '../../load/answers.ts';
import type { Fault } from './fault.ts';

export type NeighbourTimes = {
  /** What it waits for the slowest of 100 answers, in quiet and meanwhile. */
  readonly quietMs: number;
  readonly duringMs: number;
  /** Its requests that were not served. */
  readonly failed: number;
};

type Answered = {
  readonly fault: Fault;
  readonly answers: readonly Answer[];
  /** Those from before the fault. */
  readonly quiet: readonly Answer[];
  readonly faultEndedAt: number;
};

/** @returns undefined where the fault is nobody's neighbour */
export function neighbourTimes({
  fault,
  quiet,
  answers,
  faultEndedAt,
}: Answered): NeighbourTimes | undefined {
  if (fault.neighbour === undefined) return undefined;
  const ofNeighbour = (all: readonly Answer[]) => all.filter(({ company }) => company === fault.neighbour);
  const during = ofNeighbour(answers).filter(({ at }) => at < faultEndedAt);
  const failed = during.filter((answer) => answer.class !== 'ok').length;
  return { quietMs: slowestOf100(ofNeighbour(quiet)), duringMs: slowestOf100(during), failed };
}

/** What it waited for longest, and when: whether that is the fault's doing or the machine's. */
export function slowestOfNeighbour({ fault, answers, faultEndedAt }: Answered): string[] {
  if (fault.neighbour === undefined) return [];
  const during = answers.filter(({ at, company }) => at < faultEndedAt && company === fault.neighbour);
  const begun = Math.min(...during.map(({ at }) => at));
  const slowest = during.toSorted((a, b) => b.ms - a.ms).slice(0, 5);
  return slowest.map(
    ({ kind, ms, at }) => `${Math.round(ms)} ms: ${kind} after ${((at - begun) / 1_000).toFixed(1)} s`,
  );
}

export const slowestOf100 = (answers: readonly Answer[]): number =>
  quantile(
    answers.map(({ ms }) => ms),
    0.99,
  );
