import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LifeLine } from '../../test/minting/lives/run.ts';
import { runLives, shareSeeds } from './run-lives.ts';

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
  /** The life that finds it, and what it finds; null when none of them does. */
  readonly seed: number | null;
  readonly found: string;
};

/**
 * Lives with each mutant until a life goes wrong.
 * @param count the most lives for each
 * @returns which seed finds which
 */
export async function runMutants(first: number, count: number, only?: string): Promise<Outcome[]> {
  const checkout = mkdtempSync(path.join(tmpdir(), 'tallystick-mutants-'));
  for (const part of parts) cpSync(part, path.join(checkout, part), { recursive: true });
  symlinkSync(path.resolve('node_modules'), path.join(checkout, 'node_modules'));
  const outcomes: Outcome[] = [];
  try {
    for (const { about, file, name } of listMutants(only)) {
      const patch = (...options: string[]) =>
        execFileSync('git', ['apply', ...options, file], { cwd: checkout });
      patch();
      const found = await findBy(checkout, first, count);
      patch('--reverse');
      const outcome = { mutant: name, seed: found?.seed ?? null, found: found?.found[0] ?? '' };
      outcomes.push(outcome);
      process.stdout.write(`${JSON.stringify({ ...outcome, about })}\n`);
    }
  } finally {
    rmSync(checkout, { recursive: true });
  }
  return outcomes;
}

// So many at a time: a life that goes wrong ends the search.
const atOnce = 50;

/** Lives until a life goes wrong. @returns the first of them by its seed */
async function findBy(checkout: string, first: number, count: number): Promise<LifeLine | undefined> {
  for (let done = 0; done < count; done += atOnce) {
    const wrong: LifeLine[] = [];
    const onLine = (line: LifeLine) => {
      if (line.found.length > 0) wrong.push(line);
    };
    const shares = shareSeeds(first + done, Math.min(atOnce, count - done));
    await Promise.all(
      shares.map((seeds) => runLives({ seeds, isFirstEnough: true }, { folder: checkout, onLine })),
    );
    const [earliest] = wrong.sort((one, other) => one.seed - other.seed);
    if (earliest !== undefined) return earliest;
  }
  return undefined;
}
