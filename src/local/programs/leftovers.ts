import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode, LocalError } from './local-error.ts';
import { isAlive, listProcesses, type Process } from './processes.ts';
import { guardName } from './supervisor.ts';

// A guard gives its program 20 s; then nothing waits any longer.
const patienceMs = 25_000;

/**
 * Waits until no program of an earlier start works on these files. After a kill their guards still end
 * them in order; a program whose guard was killed too is ended here.
 * @param files words by which the programs name what they work on
 */
export async function endLeftovers(files: readonly string[]): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = listProcesses().filter((process) => isOurs(process, files));
    if (found.length === 0) return;
    const guarded = found.some(({ words }) => words.includes(guardName));
    if (!guarded) for (const { pid } of found) signal(pid, 'SIGINT');
    if (Date.now() > deadline) for (const { pid } of found) signal(pid, 'SIGKILL');
    if (Date.now() > deadline + 5_000) {
      throw new LocalError(
        `Programs of an earlier start do not end: ${found.map(({ pid }) => pid).join(', ')}`,
      );
    }
    await pause(50);
  }
}

function isOurs({ pid, words }: Process, files: readonly string[]): boolean {
  const program = path.basename(words[0] ?? '');
  const known = ['postgres', 'initdb', 'anvil'].includes(program) || words.includes(guardName);
  return known && files.some((file) => words.includes(file)) && isAlive(pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
