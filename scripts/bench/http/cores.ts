import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const cores = { server: '0', load: '1' } as const;

/** Whether server and load have a core each. */
export const isPinned = existsSync('/usr/bin/taskset') && availableParallelism() > 1;

type Command = readonly [program: string, ...words: string[]];

/** The command, kept to one core where that can be done. */
export const pinned = (core: keyof typeof cores, command: Command): Command =>
  isPinned ? ['/usr/bin/taskset', '-c', cores[core], ...command] : command;

const ticksPerSecond = 100;

/** Seconds of a core that a process has used since its start, in user and system mode. */
export function coreSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may hold spaces, field 14 is the twelfth.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Megabytes that a process holds in memory. */
export function residentMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(found?.[1] ?? 0) / 1024);
}
