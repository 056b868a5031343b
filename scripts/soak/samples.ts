import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Replica } from '../load/replica.ts';

/** What of a process must not grow, with how much of it may come and go by chance. */
export const allowances = {
  memoryMb: { share: 0.25, more: 40 },
  heapMb: { share: 0.25, more: 25 },
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

/** Asks a process for its metrics. @returns undefined when it does not tell */
export async function sampleOf(
  { operationsPort, pid }: Replica,
  folder: string,
): Promise<Sample | undefined> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(`http://127.0.0.1:${operationsPort}/metrics`, { signal });
    const listeners = Number(readFileSync(path.join(folder, `listeners-${pid}`), 'utf8'));
    return answer.ok ? { ...parse(await answer.text()), listeners } : undefined;
  } catch {
    return undefined;
  }
}

function parse(text: string): Omit<Sample, 'listeners'> {
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  const resources = (type: string) => value(`nodejs_active_resources\\{type="${type}"\\}`);
  return {
    memoryMb: value('process_resident_memory_bytes') / 1_000_000,
    heapMb: value('nodejs_heap_size_used_bytes') / 1_000_000,
    descriptors: value('process_open_fds'),
    timers: resources('Timeout'),
    sockets: resources('TCPSocketWrap'),
  };
}
