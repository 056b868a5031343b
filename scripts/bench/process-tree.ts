import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from '../../src/contract/transaction.ts';

const msPerTick = 10;

type Process = { readonly pid: number; readonly parent: number; readonly ms: number };

/** Milliseconds of a core that a process and all that it started have used, those that ended included. */
export function treeMs(pid: number): number {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(Number(name)) : []));
  const sum = (root: number): number =>
    all
      .filter(({ parent }) => parent === root)
      .reduce((ms, child) => ms + sum(child.pid), all.find((one) => one.pid === root)?.ms ?? 0);
  return sum(pid);
}

/** @returns none when it has ended meanwhile */
function readProcess(pid: number): Process[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the name, which may hold spaces, field 4 is the second: the parent. 14 to 17 are its own time in user and
    // system mode, and that of children that have ended.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((some, field) => some + Number(field), 0);
    return [{ pid, parent: Number(fields[1]), ms: ticks * msPerTick }];
  } catch {
    return [];
  }
}

/** The process of the server that started all others of it. */
export async function serverPid(db: Database): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ readonly pid: number }] }>('SELECT pg_backend_pid() AS pid');
  const parent = readProcess(rows[0].pid)[0]?.parent;
  if (parent === undefined) throw new Error('The server is not on this machine.');
  return parent;
}
