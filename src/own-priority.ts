import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Sets the nice value of a process, and that of its session where it leads one: Linux may give each session the same share
 * of the cores (autogroup), and then the nice value of a process counts among those of its session only.
 * @param nice -20, the first in line, to 19
 * @throws Error where the system does not allow it
 */
export function setNice(nice: number, pid: number = process.pid): void {
  setPriority(pid, nice);
  try {
    if (leadsSession(pid)) writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // Another system, or a kernel without it.
  }
}

function leadsSession(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // After the name of the program, which may hold any character: state, parent, group, session.
  const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return session === String(pid);
}
