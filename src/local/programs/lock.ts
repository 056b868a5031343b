import { readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  assertFree(file);
  rmSync(file, { force: true });
  const text = JSON.stringify({ pid: process.pid, mark: startMark(process.pid) ?? '' } satisfies Holder);
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // Another start was faster.
    if (errorCode(error) === 'EEXIST') assertFree(file);
    throw error;
  }
  return {
    release() {
      if (read(file) === text) rmSync(file, { force: true });
    },
  };
}

function assertFree(file: string): void {
  const pid = aliveHolder(read(file));
  if (pid === undefined) return;
  throw new LocalError(
    `Tallystick is running here already (process ${pid}). Stop it first, or work in another clone.`,
  );
}

function aliveHolder(text: string): number | undefined {
  try {
    const { pid, mark }: Holder = JSON.parse(text);
    return Number.isInteger(pid) && startMark(pid) === mark ? pid : undefined;
  } catch {
    return undefined; // there is none, or it was cut off by a full disk
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}
