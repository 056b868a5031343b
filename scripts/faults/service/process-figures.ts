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

/** Looks at what these processes hold again and again. @returns what ends it, with the most that was seen */
export function watchPeak(replicas: () => readonly Replica[]): () => Figures {
  let peak = mostOf(replicas());
  const look = () => {
    const now = mostOf(replicas());
    peak = {
      memoryMb: Math.max(peak.memoryMb, now.memoryMb),
      descriptors: Math.max(peak.descriptors, now.descriptors),
    };
  };
  const timer = setInterval(look, peakEveryMs);
  return () => {
    clearInterval(timer);
    look();
    return peak;
  };
}

const peakEveryMs = 250;
/** `MAX_ANSWERS_MB`, by default. */
const answersMb = 128;
// What requests under way take beside their answers, and garbage that was not collected yet.
const peakMemoryMb = answersMb + 250;
// Connections of the load that wait for something, on both sides.
const peakDescriptors = 400;

/** Whether a process held no more meanwhile than its limits let it. @param connections of the fault itself */
export const isBounded = (before: Figures, peak: Figures, connections = 0): boolean =>
  peak.memoryMb <= before.memoryMb + peakMemoryMb &&
  peak.descriptors <= before.descriptors + peakDescriptors + connections;

// What a process may hold more than before: caches fill, the load differs by chance, and V8 keeps much of what it has had.
const moreMemoryMb = 250;
const moreDescriptors = 40;

export const isSettled = (before: Figures, after: Figures): boolean =>
  after.memoryMb <= before.memoryMb + moreMemoryMb &&
  after.descriptors <= before.descriptors + moreDescriptors;
