import { readdirSync, readFileSync } from 'node:fs';
import type { Replica } from '../../load/replica.ts';

/** What a process holds at a moment. */
export type Figures = { readonly memoryMb: number; readonly descriptors: number };

/** Without /proc, or after its end, all are 0. */
function figuresOf({ pid }: Pick<Replica, 'pid'>): Figures {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    return { memoryMb: Math.round(kilobytes / 1024), descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return { memoryMb: 0, descriptors: 0 };
  }
}

/** The most that any of these processes holds. */
export function mostOf(replicas: readonly Replica[]): Figures {
  const all = replicas.map(figuresOf);
  return {
    memoryMb: Math.max(...all.map(({ memoryMb }) => memoryMb)),
    descriptors: Math.max(...all.map(({ descriptors }) => descriptors)),
  };
}

// What a process may hold more than before: caches fill, and the load differs by chance.
const moreMemoryMb = 200;
const moreDescriptors = 40;

export const isSettled = (before: Figures, after: Figures): boolean =>
  after.memoryMb <= before.memoryMb + moreMemoryMb &&
  after.descriptors <= before.descriptors + moreDescriptors;
