import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { errorCode } from '../../base/thrown.ts';

export type Process = { readonly pid: number; readonly words: readonly string[] };

/**
 * A mark that differs between two processes with the same id: containers reuse ids soon. Undefined when the
 * process has ended.
 */
export function startMark(pid: number): string | undefined {
  return statOf(pid)?.started ?? (isAlive(pid) ? 'unknown' : undefined);
}

export function parentOf(pid: number): number | undefined {
  return statOf(pid)?.parent;
}

/** The arguments of a process, its program first; none when it has ended or without /proc. */
function commandLineOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}

/** All processes of the machine that this user may see. */
export function listOwnProcesses(): Process[] {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map((pid) => ({ pid: Number(pid), words: commandLineOf(Number(pid)) }));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  // Without /proc, as on macOS. Arguments with spaces are split, which only matters for odd folder names.
  const lines = execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' }).split('\n');
  return lines.map((line) => {
    const [pid = '', ...words] = line.trim().split(/\s+/);
    return { pid: Number(pid), words };
  });
}

/** Whether a process with this id runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  if (statOf(pid)?.state === 'Z') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

type Stat = { readonly state: string; readonly parent: number; readonly started: string };

// The second field, the name, may contain anything. So fields are counted from its closing parenthesis: state,
// parent, and as the 20th the start in clock ticks since boot (proc_pid_stat(5)).
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent = '0'] = fields;
    return state === 'Z'
      ? { state, parent: 0, started: '' }
      : { state, parent: Number(parent), started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
