import type { Aftermath } from '../faults/service/fault.ts';
import type { leftBehind } from '../faults/service/left-behind.ts';
import { deadlineMs } from '../faults/service/usual-load.ts';
import { type Answer, commonDetails, countClasses } from '../load/answers.ts';
import type { Growth } from './growth.ts';
import type { Sample } from './samples.ts';

/** What was seen between the faults. */
export type Quiet = {
  /** By the names of processes. */
  readonly samples: Map<string, Sample[]>;
  /** From when to when it was quiet, in milliseconds of `performance.now()`. */
  readonly stretches: [from: number, to: number][];
  /** How often each process was asked. */
  looks: number;
};

/** A fault, and what is true after it. */
export type Happened = { readonly name: string; readonly aftermath: Aftermath };

type Found = {
  readonly answers: readonly Answer[];
  /** Those that must have told of themselves. */
  readonly processes: readonly string[];
  readonly quiet: Quiet;
  readonly growth: readonly Growth[];
  readonly left: Awaited<ReturnType<typeof leftBehind>>;
  readonly aftermaths: readonly Happened[];
};

/** Of the samples that were asked for. A scrape may fail once on a busy machine. */
const leastShare = 0.75;

/** The demands that were not met, in words. */
export function violationsOf(found: Found): string[] {
  return [
    ...answerViolations(found),
    ...sampleViolations(found),
    ...leftViolations(found),
    ...found.aftermaths.flatMap(({ name, aftermath: { acted, violations = [] } }) => [
      ...(acted ? [] : [`nothing shows that ${name} happened`]),
      ...violations.map((words) => `${name}: ${words}`),
    ]),
  ];
}

function answerViolations({ answers, quiet: { stretches } }: Found): string[] {
  const { wrong, cut, late } = countClasses(answers);
  const inQuiet = answers.filter(({ at }) => stretches.some(([from, to]) => at >= from && at <= to));
  const unserved = inQuiet.filter((answer) => answer.class !== 'ok');
  return broken([
    [wrong > 0, `${wrong} answers that are neither served nor 502 or 503 with Retry-After`],
    [cut > 0, `${cut} requests cut off`],
    [late > 0, `${late} requests without an answer in ${deadlineMs / 1_000} s`],
    [inQuiet.length === 0, 'nothing was asked in quiet'],
    [
      unserved.length > 0,
      `${unserved.length} of ${inQuiet.length} not served in quiet: ${commonDetails(unserved, 2).join(', ')}; ${placeOf(unserved[0], stretches)}`,
    ],
  ]);
}

/** When a request was sent, beside what happened before and after, and how long its answer took. */
function placeOf(answer: Answer | undefined, stretches: Quiet['stretches']): string {
  if (answer === undefined) return '';
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const number = stretches.findIndex(([from, to]) => answer.at >= from && answer.at <= to);
  const [from = 0, to = 0] = stretches[number] ?? [];
  return `the first was sent ${seconds(answer.at - from)} into quiet ${number + 1}, ${seconds(to - answer.at)} before its end, and took ${seconds(answer.ms)}`;
}

function sampleViolations({ processes, quiet: { samples, looks }, growth }: Found): string[] {
  const least = Math.max(1, Math.ceil(looks * leastShare));
  const few = processes.filter((name) => (samples.get(name)?.length ?? 0) < least);
  const grown = growth.filter(({ isWithin }) => !isWithin);
  return [
    ...few.map((name) => `${name} told of itself ${samples.get(name)?.length ?? 0} times of ${looks}`),
    ...grown.map(
      ({ process: name, quantity, first, last, most }) =>
        `${quantity} of ${name} grows: ${first} to ${last}, where ${most} is the most`,
    ),
  ];
}

const leftViolations = ({ left }: Found): string[] =>
  broken([
    [left.lost.length > 0, `${left.lost.length} accepted writes lost`],
    [left.unfinished > 0, `${left.unfinished} accepted mints stand still`],
    [left.broken.length > 0, left.broken.slice(0, 3).join(', ')],
    [left.unhandled.length > 0, `unhandled: ${left.unhandled[0]?.slice(0, 160)}`],
    [left.ended.length > 0, `ended: ${left.ended.join(', ')}`],
  ]);

const broken = (demands: readonly (readonly [isBroken: boolean, words: string])[]): string[] =>
  demands.filter(([isBroken]) => isBroken).map(([, words]) => words);
