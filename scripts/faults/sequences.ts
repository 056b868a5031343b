import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What one sequence did and met, a line of the report. */
export type Sequence = {
  readonly seed: number;
  readonly nfts: number;
  readonly nodes: readonly string[];
  readonly found: readonly string[];
  /** What would be found if all parts were ready. */
  readonly noted: readonly string[];
  readonly reasons: readonly string[];
  /** The most questions to a node during a block. */
  readonly questions: number;
};

export type Wanted = {
  readonly seed: number;
  readonly minutes: number;
  /** How many at most; undefined for as many as the time allows. */
  readonly sequences: number | undefined;
  readonly parallel: number;
  /** Parts that are not ready, whose ingredients and demands are wanted all the same. */
  readonly with: string;
  /** The folder of the report and of what each process writes. */
  readonly folder: string;
};

const progressMs = 10_000;

export const vitestArgs = (files: readonly string[]) => [
  path.resolve('node_modules/vitest/vitest.mjs'),
  ...['run', '--config', 'test/vitest.config.ts', ...files],
];

export const reportOf = (folder: string) => path.join(folder, 'sequences');

/**
 * Runs random sequences side by side, each process with its own chain and database, and tells how far they are.
 * @returns whether all processes ended well
 */
export async function runSequences(wanted: Wanted): Promise<boolean> {
  const { parallel, sequences = Number.POSITIVE_INFINITY } = wanted;
  const processes = Math.min(parallel, sequences);
  const begun = performance.now();
  const told = new Set<number>();
  const tell = () => {
    const done = readSequences(wanted.folder);
    for (const { seed, found } of done.filter((each) => each.found.length > 0 && !told.has(each.seed))) {
      told.add(seed);
      process.stderr.write(`seed ${seed}: ${found.join('; ')}\n`);
    }
    process.stderr.write(`${progressOf(done, performance.now() - begun)}\n`);
  };
  const timer = setInterval(tell, progressMs);
  const ends = await Promise.all(
    Array.from({ length: processes }, (_, index) => runOne(wanted, index, processes)),
  );
  clearInterval(timer);
  tell();
  return ends.every(Boolean);
}

export function readSequences(folder: string): Sequence[] {
  const file = reportOf(folder);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line): Sequence => JSON.parse(line));
}

function progressOf(done: readonly Sequence[], ms: number): string {
  const minutes = ms / 60_000;
  const violations = done.filter(({ found }) => found.length > 0).length;
  return `${done.length} sequences, ${violations} violated, ${(done.length / minutes).toFixed(1)} a minute, ${minutes.toFixed(1)} minutes`;
}

/** One process, which takes every nth seed. */
function runOne(wanted: Wanted, index: number, processes: number): Promise<boolean> {
  const { sequences } = wanted;
  const output = openSync(path.join(wanted.folder, `process-${index + 1}.log`), 'a');
  const child = spawn(process.execPath, vitestArgs(['test/minting/faults/random-faults.test.ts']), {
    stdio: ['ignore', output, output],
    env: {
      ...process.env,
      FAULTS: 'all',
      FAULT_SECONDS: String(wanted.minutes * 60),
      FAULT_SEED: String(wanted.seed + index),
      FAULT_STRIDE: String(processes),
      FAULT_WITH: wanted.with,
      FAULT_REPORT: reportOf(wanted.folder),
      // The first processes take those that cannot be shared out evenly.
      ...(sequences && { FAULT_SEQUENCES: String(Math.ceil((sequences - index) / processes)) }),
    },
  });
  // Whoever stops this process stops them too; the total then is of what was done.
  const stop = () => child.kill('SIGTERM');
  process.once('SIGTERM', stop);
  return new Promise((resolve) =>
    child.once('exit', (code) => {
      process.off('SIGTERM', stop);
      resolve(code === 0);
    }),
  );
}
