import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { errorCode, LocalError } from './local-error.ts';
import { startMark } from './processes.ts';

type Holder = { readonly pid: number; readonly mark: string };

export type Lock = { release(): void };

/**
 * Takes the lock of the folder for this process. What a killed process left is taken over.
 * @throws LocalError when another process holds it
 */
export function takeLock(file: string): Lock {
  const own = `${file}.${process.pid}`;
  const text = JSON.stringify({ pid: process.pid, mark: startMark(process.pid) ?? '' } satisfies Holder);
  writeFileSync(own, text, { mode: 0o600 });
  try {
    // A link is made complete or not at all, and fails when the name is taken.
    while (!tryLink(own, file)) dropStale(file);
  } finally {
    rmSync(own, { force: true });
  }
  return {
    release() {
      if (read(file) === text) rmSync(file, { force: true });
    },
  };
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function dropStale(file: string): void {
  const seen = read(file);
  if (seen === undefined) return;
  const pid = aliveHolder(seen);
  if (pid !== undefined) {
    throw new LocalError(
      `Tallystick is running here already (process ${pid}). Stop it first, or work in another clone.`,
    );
  }
  // Renamed first: of two processes that see the same stale lock only one can move it away.
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  // The other one was quicker and this is its new lock: give it back.
  if (read(aside) !== seen) tryLink(aside, file);
  rmSync(aside, { force: true });
}

function aliveHolder(text: string): number | undefined {
  try {
    const { pid, mark }: Holder = JSON.parse(text);
    return Number.isInteger(pid) && startMark(pid) === mark ? pid : undefined;
  } catch {
    return undefined; // cut off by a full disk: nobody's
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
