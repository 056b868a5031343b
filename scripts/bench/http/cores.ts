import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { findProgram } from '../../find-program.ts';

const cores = { server: '0', load: '1' } as const;
const taskset = findProgram('taskset');

/** Why server and load have no core each; undefined where they have. */
export const unpinned =
  taskset === undefined
    ? 'NOT pinned to a core each: there is no taskset'
    : availableParallelism() < 2
      ? 'NOT pinned to a core each: there is one'
      : undefined;

/** What stands before a command to keep it to a core, where that can be done. */
const starterOn = (core: keyof typeof cores): readonly string[] =>
  taskset !== undefined && unpinned === undefined ? [taskset, '-c', cores[core]] : [];

type Command = readonly [program: string, ...words: string[]];

/** The command, kept to one core where that can be done. */
export function pinned(core: keyof typeof cores, [program, ...words]: Command): Command {
  const [first = program, ...others] = [...starterOn(core), program];
  return [first, ...others, ...words];
}

const ticksPerSecond = 100;

/** Seconds of a core that a process has used since its start, in user and system mode. */
export function coreSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may contain spaces, field 14 is the twelfth.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Megabytes that a process has in memory. */
export function residentMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(found?.[1] ?? 0) / 1024);
}
