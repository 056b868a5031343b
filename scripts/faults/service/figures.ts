import { readdirSync, readFileSync } from 'node:fs';
import type { Replica } from '../../load/replica.ts';

/** What a process has at a moment. */
export type Figures = { readonly memoryMb: number; readonly descriptors: number };

/** What `/proc` has of a process; an empty text without it, or after the end of the process. */
export function readProc({ pid }: Pick<Replica, 'pid'>, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

function figuresOf(replica: Pick<Replica, 'pid'>): Figures {
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readProc(replica, 'status'))?.[1] ?? 0);
  if (kilobytes === 0) return { memoryMb: 0, descriptors: 0 };
  return {
    memoryMb: Math.round(kilobytes / 1024),
    descriptors: readdirSync(`/proc/${replica.pid}/fd`).length,
  };
}

const most = (all: readonly Figures[]): Figures => ({
  memoryMb: Math.max(...all.map(({ memoryMb }) => memoryMb)),
  descriptors: Math.max(...all.map(({ descriptors }) => descriptors)),
});

/** The largest value among these processes. */
export const mostOf = (replicas: readonly Replica[]): Figures => most(replicas.map(figuresOf));

/** Measures what these processes have every 250 ms. @returns what ends it, with the most that was seen */
export function watchPeak(replicas: () => readonly Replica[]): () => Figures {
  let peak = mostOf(replicas());
  const look = () => {
    peak = most([peak, mostOf(replicas())]);
  };
  const timer = setInterval(look, 250);
  return () => {
    clearInterval(timer);
    look();
    return peak;
  };
}

// Answers that callers have not read, other memory of requests under way, and garbage that was not collected yet.
const peakMemoryMb = 128 + 250;
// Connections of the load that wait for something, on both sides.
const peakDescriptors = 400;

/** Whether a process had no more meanwhile than its limits let it. @param connections of the fault itself */
export const isBounded = (before: Figures, peak: Figures, connections = 0): boolean =>
  peak.memoryMb <= before.memoryMb + peakMemoryMb &&
  peak.descriptors <= before.descriptors + peakDescriptors + connections;

// What a process may have more than before: caches fill, the load differs by chance, and V8 keeps much of what it has had.
const moreMemoryMb = 250;
const moreDescriptors = 40;

export const isSettled = (before: Figures, after: Figures): boolean =>
  after.memoryMb <= before.memoryMb + moreMemoryMb &&
  after.descriptors <= before.descriptors + moreDescriptors;
