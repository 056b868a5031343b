import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { killAtExit } from './kill-at-exit.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Half of a start is the reading of modules, which are the same each time.
export const moduleCache = { NODE_COMPILE_CACHE: path.join(tmpdir(), 'tallystick-test-modules') };

export type RunningProcess = {
  readonly child: ChildProcess;
  /** Everything that it has written so far to standard output and standard error. */
  output(): string;
  /** Resolves with the first match in its output. Rejects if it exits or the time, a minute by default, passes without a match. */
  until(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  /** Resolves with its exit status, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
};

/** Where and how a program runs, if not as Node in the folder of the project. */
export type ProcessOptions = {
  readonly command?: string;
  readonly cwd?: string;
  /** Whether it leads a process group of its own, as a terminal and a supervisor give it. */
  readonly detached?: boolean;
};

/** Runs a program, Node by default, as a child process. It inherits only PATH from this environment. */
export function startProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { command = process.execPath, cwd = root, detached = false }: ProcessOptions = {},
): RunningProcess {
  const child = spawn(command, args, {
    cwd,
    detached,
    env: { PATH: process.env['PATH'] ?? '', ...moduleCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  killAtExit(child);
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (written += text));
  const ended = once(child, 'close').then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) => code ?? signal ?? 0,
  ) as Promise<number | NodeJS.Signals>; // one of both is always given
  return {
    child,
    ended,
    output: () => written,
    until: (pattern, timeoutMs = 60_000) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = written.match(pattern);
          if (found) done(() => resolve(found));
        };
        const timer = setTimeout(
          () => done(() => reject(new Error(`never wrote ${pattern}:\n${written}`))),
          timeoutMs,
        );
        const done = (settle: () => void) => {
          clearTimeout(timer);
          child.stdout.off('data', look);
          child.stderr.off('data', look);
          settle();
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        child.once('close', () =>
          done(() => reject(new Error(`ended before it wrote ${pattern}:\n${written}`))),
        );
        look();
      }),
  };
}

const ring = `a:${Buffer.alloc(32, 1).toString('base64')}`;

/** Settings of a process of the service over this database: a free port, and a stop without a pause. */
export const processSettings = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEYS: ring,
  CURSOR_KEYS: ring,
  HOST: '127.0.0.1',
  PORT: '0',
  DRAIN_SECONDS: '0',
});

/** Starts a process of the service. @param settings in addition to {@link processSettings}; they win over them */
export const startMain = (databaseUrl: string, settings: Readonly<Record<string, string>> = {}) =>
  startProcess(['src/main.ts'], { ...processSettings(databaseUrl), ...settings });
