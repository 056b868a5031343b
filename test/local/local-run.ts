import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exitStateFile } from '../../src/local/programs/chain.ts';
import { possibleData, removePostgresPlace } from '../../src/local/programs/postgres-place.ts';
import { listOwnProcesses, type Process } from '../../src/local/programs/processes.ts';
import { moduleCache } from '../support/process.ts';

const entry = fileURLToPath(new URL('run-local.ts', import.meta.url));

type Outcome = { readonly event: string; readonly message?: string; readonly banner?: string };

export type LocalRun = {
  readonly child: ChildProcess;
  /** What it said before it was ready. */
  readonly lines: readonly string[];
  /** `ready` or `refused`. */
  readonly outcome: Promise<Outcome>;
  /** What it says once it is ready; fails with its reason when it refuses. */
  readonly ready: Promise<Outcome>;
  /** Settles when it says a line that fits. */
  said(text: RegExp): Promise<void>;
  /** Its exit status, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
};

type RunOptions = { readonly fresh?: boolean; readonly env?: Record<string, string>; readonly uid?: number };

/** Starts the local world of a directory in a process of its own. */
export function runLocal(directory: string, { fresh = false, env = {}, uid }: RunOptions = {}): LocalRun {
  const child = spawn(process.execPath, [entry, directory, ...(fresh ? ['--fresh'] : [])], {
    cwd: '/',
    env: { ...process.env, ...moduleCache, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const listeners = new Set<(line: string) => void>();
  const outcome = new Promise<Outcome>((resolve) => {
    reader.on('line', (text) => {
      const said: Outcome & { line?: string } = JSON.parse(text);
      if (said.event === 'ready' || said.event === 'refused') resolve(said);
      if (said.line !== undefined) lines.push(said.line);
      for (const listener of listeners) listener(text);
    });
    child.once('exit', () => resolve({ event: 'exit' }));
  });
  const ready = outcome.then((told) => {
    if (told.event !== 'ready') throw new Error(`${told.event}: ${told.message}`);
    return told;
  });
  // Told where it is waited for.
  ready.catch(() => {});
  return {
    child,
    lines,
    outcome,
    ready,
    said: (text) => new Promise((resolve) => listeners.add((line) => text.test(line) && resolve())),
    ended: new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code))),
  };
}

/** A directory that only its owner may enter, as below /root; `open` lets everybody in. */
export async function makeDirectory(open = false): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tallystick-local-'));
  if (open) await chmod(directory, 0o755);
  return directory;
}

export async function removeDirectory(directory: string): Promise<void> {
  removePostgresPlace(path.join(directory, '.local', 'postgres'));
  await rm(directory, { recursive: true, force: true });
}

/** Programs of a directory's world, and their supervisors. */
export function programsOf(directory: string): Process[] {
  const local = path.join(directory, '.local');
  const files = [...possibleData(path.join(local, 'postgres')), exitStateFile(path.join(local, 'chain'))];
  return listOwnProcesses().filter(({ words }) => words.some((word) => files.includes(word)));
}

/** Waits until nothing works on the directory's world any longer. */
export async function untilQuiet(directory: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (programsOf(directory).length > 0) {
    if (Date.now() > deadline) throw new Error('programs are left running');
    await pause(20);
  }
}

export async function readCredentials(directory: string) {
  return JSON.parse(await readFile(path.join(directory, '.local/credentials.json'), 'utf8'));
}
