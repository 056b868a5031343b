import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../../base/thrown.ts';
import { LocalError } from './local-error.ts';
import { isAlive, listOwnProcesses, type Process } from './processes.ts';
import { supervisorName } from './supervisor.ts';

// A supervisor kills its program after 20 s, so none should be left after this time.
const patienceMs = 25_000;

/**
 * Waits until no program of an earlier start works on these files. After a kill of that start its supervisors
 * still end their programs; a program whose supervisor was killed too is ended here.
 * @param files arguments in which the programs name the files that they work on
 * @throws LocalError when a program does not end within 30 s
 */
export async function endLeftovers(files: readonly string[]): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = listOwnProcesses().filter((process) => isOurs(process, files));
    if (found.length === 0) return;
    const isSupervised = found.some(({ words }) => words.includes(supervisorName));
    if (!isSupervised) for (const { pid } of found) signal(pid, 'SIGINT');
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
  const known = ['postgres', 'initdb', 'anvil'].includes(program) || words.includes(supervisorName);
  return known && files.some((file) => words.includes(file)) && isAlive(pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
