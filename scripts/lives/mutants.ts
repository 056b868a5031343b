import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import type { LifeLine } from '../../test/minting/lives/run.ts';
import { runLives } from './run-lives.ts';

const folder = 'test/minting/lives/mutants';
const parts = ['src', 'test', 'migrations', 'openapi', 'package.json', 'tsconfig.json'];

type Mutant = { readonly name: string; readonly about: string; readonly file: string };

/** The mutants: patches, each with a sentence above that says what is wrong. */
export const listMutants = (only: readonly string[] = []): Mutant[] =>
  globSync(`${folder}/*.patch`)
    .sort()
    .map((file) => ({
      name: path.basename(file, '.patch'),
      about: readFileSync(file, 'utf8').split('\n')[0] ?? '',
      file: path.resolve(file),
    }))
    .filter(({ name }) => only.length === 0 || only.includes(name));

/** What became of a mutant. */
export type Outcome = {
  readonly mutant: string;
  readonly lives: number;
  readonly seconds: number;
  /** The life that finds it, and what it finds; null when none of them does. */
  readonly seed: number | null;
  readonly found: string;
};

// A process starts in seconds, and its first lives take longer. So a later round has four times as many.
const firstRound = 60;
const growth = 4;

/**
 * Lives with each mutant until a life goes wrong, with as many at a time as there are cores: few lives with each at first, and more
 * with those that are not found.
 * @param count the most lives for each
 * @returns which seed finds which
 */
export async function runMutants(
  first: number,
  count: number,
  only: readonly string[],
  onOutcome: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let missed = listMutants(only).map((mutant) => ({ mutant, lives: 0, seconds: 0 }));
  for (let end = firstRound; missed.length > 0; end *= growth) {
    const isLast = end >= count;
    const [waiting, still] = [missed, [] as typeof missed];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const outcome = await liveWith(next, { first, end: Math.min(end, count) });
        if (outcome.seed === null && !isLast) still.push({ ...next, ...outcome, mutant: next.mutant });
        else outcomes.push(outcome);
        onOutcome(outcome);
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, work));
    missed = still;
  }
  return outcomes.sort((one, other) => one.mutant.localeCompare(other.mutant));
}

type Round = { readonly mutant: Mutant; readonly lives: number; readonly seconds: number };

/** Lives in a copy of the code with this fault, after so many lives of earlier rounds, until a life goes wrong. */
async function liveWith(
  { mutant: { file, name }, lives, seconds }: Round,
  { first, end }: { readonly first: number; readonly end: number },
): Promise<Outcome> {
  const begun = performance.now();
  const checkout = mkdtempSync(path.join(tmpdir(), 'tallystick-mutant-'));
  try {
    for (const part of parts) cpSync(part, path.join(checkout, part), { recursive: true });
    symlinkSync(path.resolve('node_modules'), path.join(checkout, 'node_modules'));
    execFileSync('git', ['apply', file], { cwd: checkout });
    const seeds = Array.from({ length: end - lives }, (_, index) => first + lives + index);
    const lines: LifeLine[] = [];
    await runLives({ seeds, isFirstEnough: true }, { folder: checkout, onLine: (line) => lines.push(line) });
    const wrong = lines.find(({ found }) => found.length > 0);
    return {
      mutant: name,
      lives: lives + lines.length,
      seconds: seconds + Math.round((performance.now() - begun) / 1_000),
      seed: wrong?.seed ?? null,
      found: wrong?.found[0] ?? '',
    };
  } finally {
    rmSync(checkout, { recursive: true });
  }
}

/** The outcomes as a table in Markdown. */
export const tableOf = (outcomes: readonly Outcome[]): string =>
  [
    '| Mutant | Seed | Lives | Seconds | What the life finds |\n|---|---|---|---|---|',
    ...outcomes.map(
      ({ mutant, seed, lives, seconds, found }) =>
        `| ${mutant} | ${seed ?? 'none'} | ${lives} | ${seconds} | ${found.split('\n')[0]?.slice(0, 120)} |`,
    ),
  ].join('\n');
