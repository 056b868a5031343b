import { type Counts, commonDetails, countClasses } from '../../load/answers.ts';
import type { Background } from './background.ts';
import { type Found, violationsOf } from './demands.ts';
import type { Fault } from './fault.ts';
import { type HealthTimes, healthTimes } from './health-times.ts';
import { type NeighbourTimes, neighbourTimes, slowestOf100, slowestOfNeighbour } from './neighbour-times.ts';
import type { Figures } from './process-figures.ts';

/** What came of a fault, and which of the demands were not met. */
export type Outcome = {
  readonly name: string;
  readonly about: string;
  readonly answers: Counts;
  readonly longestMs: number;
  /** Undefined when requests still failed when the patience was over. */
  readonly recoveryMs: number | undefined;
  readonly background: Background;
  readonly lost: number;
  readonly note: string;
  /** What a neighbour noticed, where the fault is another company. */
  readonly neighbour: NeighbourTimes | undefined;
  /** How probes were answered meanwhile, there too. */
  readonly health: HealthTimes | undefined;
  /** Slowest of 100 answers before the fault: what the machine was worth then. */
  readonly quietMs: number;
  readonly before: Figures;
  /** The most of a replica of callers while the fault lasted. */
  readonly peak: Figures;
  readonly after: Figures;
  /** In words; none when all demands are met. */
  readonly violations: readonly string[];
  readonly details: readonly string[];
};

export function judge(found: Found): Outcome {
  const { fault, answers, recoveredMs, lost, aftermath, before, peak, after, background } = found;
  return {
    name: fault.name,
    about: fault.about,
    answers: countClasses(answers),
    longestMs: Math.round(Math.max(0, ...answers.map(({ ms }) => ms))),
    recoveryMs: recoveredMs === undefined ? undefined : Math.round(recoveredMs),
    lost: lost.length,
    note: [busyNote(found), neighbourNote(found), healthNote(found), aftermath.note, excusedNote(found)]
      .filter(Boolean)
      .join('; '),
    neighbour: neighbourTimes(found),
    health: fault.neighbour === undefined ? undefined : healthTimes(found.health),
    quietMs: Math.round(slowestOf100(found.quiet)),
    ...{ before, peak, after, background },
    violations: violationsOf(found),
    details: [...commonDetails(answers), ...slowestOfNeighbour(found)],
  };
}

/** The outcome of a fault that could not be judged, so that the others are not lost. */
export function brokenOff({ name, about }: Fault, { message }: Error): Outcome {
  const nothing = { memoryMb: 0, descriptors: 0 };
  return {
    ...{ name, about, answers: countClasses([]), longestMs: 0, recoveryMs: undefined, lost: 0, note: '' },
    ...{ neighbour: undefined, health: undefined, quietMs: 0, details: [] },
    ...{ before: nothing, peak: nothing, after: nothing },
    background: { mintMs: undefined, indexMs: undefined },
    violations: [`not judged: ${message.slice(0, 200)}`],
  };
}

/** Of two outcomes of a fault the one that is told of: what was broken once is not held because it was held later. */
export const worseOf = (before: Outcome | undefined, now: Outcome): Outcome =>
  before !== undefined && before.violations.length > now.violations.length ? before : now;

/** Where answers took their time before anything was wrong, the machine had other work. */
function busyNote({ quiet }: Found): string | undefined {
  // What comes from the upstream takes its own time where that is slow from the beginning.
  const p99 = slowestOf100(quiet.filter(({ kind }) => kind !== 'hosted history'));
  return p99 > busyMs
    ? `the machine was busy: p99 ${(p99 / 1_000).toFixed(1)} s before the fault`
    : undefined;
}

const busyMs = 1_000;

function neighbourNote(found: Found): string | undefined {
  const times = neighbourTimes(found);
  return times && `p99 of the neighbour ${Math.round(times.quietMs)} to ${Math.round(times.duringMs)} ms`;
}

function healthNote({ fault, health }: Found): string | undefined {
  if (fault.neighbour === undefined) return undefined;
  const { p99Ms, longestMs } = healthTimes(health);
  return `p99 of /healthz ${p99Ms} ms, longest ${longestMs} ms`;
}

const excusedNote = ({ excused }: Found) =>
  excused > 0 ? `${excused} writes that the replica lacked` : undefined;
