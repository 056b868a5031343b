import { type Counts, commonDetails, countClasses } from '../../load/answers.ts';
import type { Background } from './background.ts';
import { type Found, neighbourTimes, violationsOf } from './demands.ts';
import type { Fault } from './fault.ts';

/** The outcome of a fault, and the demands that were not met. */
export type Outcome = {
  readonly name: string;
  readonly about: string;
  readonly answers: Counts;
  readonly longestMs: number;
  /** Undefined when requests still failed when the patience was over. */
  readonly recoveryMs: number | undefined;
  readonly background: Background;
  /** The most of a replica of callers while the fault lasted. */
  readonly memoryMb: number;
  readonly lost: number;
  readonly note: string;
  /** In words; none when all demands are met. */
  readonly violations: readonly string[];
  readonly details: readonly string[];
};

export function judge(found: Found): Outcome {
  const { fault, answers, recoveredMs, lost, excused, aftermath, peak, background } = found;
  const { quietMs, parts } = neighbourTimes(found);
  const waits = parts.map(({ name, ms }) => `${name} ${Math.round(ms)}`);
  const notes = [
    waits.length > 0 && `p99 of the neighbour ${Math.round(quietMs)} ms in quiet; ${waits.join(', ')}`,
    aftermath.note,
    excused > 0 && `${excused} writes that the replica lacked`,
  ];
  return {
    name: fault.name,
    about: fault.about,
    answers: countClasses(answers),
    longestMs: Math.round(Math.max(0, ...answers.map(({ ms }) => ms))),
    recoveryMs: recoveredMs === undefined ? undefined : Math.round(recoveredMs),
    background,
    memoryMb: peak.memoryMb,
    lost: lost.length,
    note: notes.filter(Boolean).join('; '),
    violations: violationsOf(found),
    details: commonDetails(answers),
  };
}

/** The outcome of a fault that could not be judged, so that the others are not lost. */
export function brokenOff({ name, about }: Fault, { message }: Error): Outcome {
  return {
    name,
    about,
    answers: countClasses([]),
    longestMs: 0,
    recoveryMs: undefined,
    background: { mintMs: undefined, indexMs: undefined },
    memoryMb: 0,
    lost: 0,
    note: '',
    details: [],
    violations: [`not judged: ${message.slice(0, 200)}`],
  };
}

/** Returns the outcome of a fault that is reported: a broken promise stays broken, although it was kept later. */
export const worseOf = (before: Outcome | undefined, now: Outcome): Outcome =>
  before !== undefined && before.violations.length > now.violations.length ? before : now;

const columns = ['Served', 'Busy', '502, 503', 'Other', 'Longest', 'Recovery', 'Mint', 'Index'];
/** What the table of the outcomes says above its columns. */
export const heads = ['Fault', ...columns, 'Memory', 'Lost', 'Verdict'];

export function cellsOf(outcome: Outcome): string[] {
  const { name, answers, longestMs, recoveryMs, background, memoryMb, lost, note, violations } = outcome;
  const { ok, busy, unavailable, wrong, cut, late } = answers;
  const verdict = violations.length === 0 ? 'passed' : violations.join('; ');
  return [
    name,
    ...[ok, busy, unavailable, wrong + cut + late].map(String),
    seconds(longestMs),
    ...[recoveryMs, background.mintMs, background.indexMs].map((ms) =>
      ms === undefined ? 'never' : seconds(ms),
    ),
    ...[`${memoryMb} MB`, String(lost)],
    note === '' ? verdict : `${verdict} (${note.replaceAll(/\s+/g, ' ').trim()})`,
  ];
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
