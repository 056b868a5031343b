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
export const listMutants = (only?: string): Mutant[] =>
  globSync(`${folder}/*.patch`)
    .sort()
    .map((file) => ({
      name: path.basename(file, '.patch'),
      about: readFileSync(file, 'utf8').split('\n')[0] ?? '',
      file: path.resolve(file),
    }))
    .filter(({ name }) => only === undefined || name === only);

type Outcome = {
  readonly mutant: string;
  readonly lives: number;
  /** The life that finds it, and what it finds; null when none of them does. */
  readonly seed: number | null;
  readonly found: string;
};

/**
 * Lives with each mutant until a life goes wrong, with as many at a time as there are cores.
 * @param count the most lives for each
 * @returns which seed finds which
 */
export async function runMutants(first: number, count: number, only?: string): Promise<Outcome[]> {
  const waiting = listMutants(only);
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  const outcomes: Outcome[] = [];
  const work = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const outcome = await liveWith(mutant, seeds);
      outcomes.push(outcome);
      process.stdout.write(`${JSON.stringify({ ...outcome, about: mutant.about })}\n`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return outcomes;
}

/** Lives in a copy of the code with this fault until a life goes wrong. */
async function liveWith({ file, name }: Mutant, seeds: readonly number[]): Promise<Outcome> {
  const checkout = mkdtempSync(path.join(tmpdir(), 'tallystick-mutant-'));
  try {
    for (const part of parts) cpSync(part, path.join(checkout, part), { recursive: true });
    symlinkSync(path.resolve('node_modules'), path.join(checkout, 'node_modules'));
    execFileSync('git', ['apply', file], { cwd: checkout });
    const lines: LifeLine[] = [];
    await runLives({ seeds, isFirstEnough: true }, { folder: checkout, onLine: (line) => lines.push(line) });
    const wrong = lines.find(({ found }) => found.length > 0);
    return { mutant: name, lives: lines.length, seed: wrong?.seed ?? null, found: wrong?.found[0] ?? '' };
  } finally {
    rmSync(checkout, { recursive: true });
  }
}
