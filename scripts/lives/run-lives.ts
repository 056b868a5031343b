import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import type { LifeLine, Lives } from '../../test/minting/lives/run.ts';

const program = 'test/minting/lives/run.ts';
// Most of what a life makes is garbage soon.
const settings = ['--max-semi-space-size=64'];
// A machine that does other things is slow.
const longestSilenceMs = 180_000;

type Options = {
  /** The checkout whose lanes live; the present folder by default. */
  readonly folder?: string;
  readonly onLine: (line: LifeLine) => void;
};

/** Lives these lives in a process of their own, one after another. @returns how many came to their end */
export function runLives(task: Lives, { folder = '.', onLine }: Options): Promise<number> {
  const child = spawn(process.execPath, [...settings, program, JSON.stringify(task)], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let silence: NodeJS.Timeout | undefined;
  const wait = () => {
    clearTimeout(silence);
    silence = setTimeout(() => child.kill('SIGKILL'), longestSilenceMs);
  };
  wait();
  let lines = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    wait();
    lines += 1;
    onLine(JSON.parse(line));
  });
  return new Promise((resolve) =>
    child.once('close', () => {
      clearTimeout(silence);
      resolve(lines);
    }),
  );
}

/** Shares seeds out evenly, to as many processes as there are cores. */
export function shareSeeds(first: number, count: number): readonly (readonly number[])[] {
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  const processes = Math.min(availableParallelism(), count);
  return Array.from({ length: processes }, (_, at) =>
    seeds.filter((_seed, index) => index % processes === at),
  );
}

/** Lives one life, and writes its log. @returns whether nothing is wrong with it */
export function tellLife(seed: number): Promise<boolean> {
  const task: Lives = { seeds: [seed], isTold: true };
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: 'inherit' });
  return new Promise((resolve) => child.once('close', (code) => resolve(code === 0)));
}
