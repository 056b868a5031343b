import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Replica } from '../load/replica.ts';

/**
 * What of a process must not grow, with how much of it may come and go by chance. Of memory that is a level which the heap
 * takes on in the first minutes, from 195 to 229 MB, and no growth beyond.
 */
export const allowances = {
  memoryMb: { share: 0.1, more: 20 },
  heapMb: { share: 0.1, more: 20 },
  descriptors: { share: 0.2, more: 20 },
  timers: { share: 0.5, more: 20 },
  sockets: { share: 0.5, more: 20 },
  /** The most that stand on one thing. */
  listeners: { share: 0.2, more: 5 },
} as const;

export type Quantity = keyof typeof allowances;
/** What a process holds at a moment. */
export type Sample = Readonly<Record<Quantity, number>>;

const timeoutMs = 5_000;

/**
 * Asks a process for its metrics.
 * @returns undefined when it does not tell
 * @throws Error when it tells, and a metric is not among what it tells: it would be flat for ever
 */
export async function sampleOf(replica: Replica, folder: string): Promise<Sample | undefined> {
  const told = await tell(replica, folder).catch(() => undefined);
  return told && { ...parse(told.metrics), listeners: told.listeners };
}

async function tell({ operationsPort, pid }: Replica, folder: string) {
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await fetch(`http://127.0.0.1:${operationsPort}/metrics`, { signal });
  if (!answer.ok) return undefined;
  const listeners = Number(readFileSync(path.join(folder, `listeners-${pid}`), 'utf8'));
  return { metrics: await answer.text(), listeners };
}

function parse(text: string): Omit<Sample, 'listeners'> {
  const find = (name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  const value = (name: string) => {
    const found = Number(find(name));
    if (!Number.isFinite(found)) throw new Error(`There is no metric ${name}.`);
    return found;
  };
  const resources = (type: string) => {
    // Of what there is none, there is no series.
    if (!text.includes('# TYPE nodejs_active_resources ')) throw new Error('There are no active resources.');
    return Number(find(`nodejs_active_resources\\{type="${type}"\\}`) ?? 0);
  };
  return {
    memoryMb: value('process_resident_memory_bytes') / 1_000_000,
    heapMb: value('nodejs_heap_size_used_bytes') / 1_000_000,
    descriptors: value('process_open_fds'),
    timers: resources('Timeout'),
    sockets: resources('TCPSocketWrap'),
  };
}
