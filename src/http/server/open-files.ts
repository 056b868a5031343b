import { readFileSync } from 'node:fs';
import type { Logger } from '../../base/log.ts';
import type { ConnectionLimits } from './connections.ts';

type Wanted = Pick<ConnectionLimits, 'total' | 'perAddress'>;

/** How many files and connections this process may have open; Infinity where nothing limits it, or nobody says. */
export function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

// For the database, nodes, other services and files: without any left, no request could be answered.
const mostReserved = 512;

/**
 * The limits of connections that leave some of the process's descriptors to its own work. Where they are fewer than was
 * wanted, no address gets more than half of them.
 */
export function withinOpenFiles(wanted: Wanted, openFiles: number, log: Logger): Wanted {
  const total = Math.floor(openFiles - Math.min(openFiles / 2, mostReserved));
  if (wanted.total <= total) return wanted;
  log.warn({ openFiles, total }, 'fewer connections than usual: the process may not open more files');
  return { total, perAddress: Math.min(wanted.perAddress, Math.max(1, Math.floor(total / 2))) };
}
