import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { errorCode } from '../../base/thrown.ts';
import { LocalError } from './local-error.ts';
import { startMark } from './processes.ts';

type Holder = { readonly pid: number; readonly mark: string };

export type Lock = { release(): void };

/**
 * Takes the lock of the folder for this process, or the lock that a killed process left behind.
 * @throws LocalError when a running process has it
 */
export function takeLock(file: string): Lock {
  const own = `${file}.${process.pid}`;
  const text = JSON.stringify({ pid: process.pid, mark: startMark(process.pid) ?? '' } satisfies Holder);
  writeFileSync(own, text, { mode: 0o600 });
  try {
    // Linking is atomic, and fails when the name is taken.
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
  // Renaming is atomic: of two processes that see the same stale lock, only one can move it away.
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  // Another process was first and this is its new lock: put it back.
  if (read(aside) !== seen) tryLink(aside, file);
  rmSync(aside, { force: true });
}

function aliveHolder(text: string): number | undefined {
  try {
    const { pid, mark }: Holder = JSON.parse(text);
    return Number.isInteger(pid) && startMark(pid) === mark ? pid : undefined;
  } catch {
    return undefined; // cut off by a full disk: it has no holder
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
