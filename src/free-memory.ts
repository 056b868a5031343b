import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Logger } from './log.ts';

// So much comes and goes with the usual work.
const usualBytes = 128 * 1024 ** 2;
// What is at work for more of its time has callers whom a pause of some 100 ms would hit: ten mixed requests a second take 0.03,
// a flood that is refused 0.1.
const mostBusy = 0.06;
const everyMs = 5_000;
/** Looks one after the other at which the process was quiet. */
const quietLooks = 2;

type FreeMemoryOptions = {
  readonly log: Logger;
  readonly everyMs?: number;
};

/**
 * Gives memory back that V8 has freed and keeps. After a peak that are hundreds of MB for good: it lets go of them only in a
 * collection after which nothing else is left to do. One such collection takes a tenth or two of a second, so it is left for a quiet
 * moment. Does nothing unless Node was started with `--expose-gc`.
 * @returns what ends it
 */
export function giveBackFreeMemory({ log, everyMs: lookMs = everyMs }: FreeMemoryOptions): () => void {
  const collect = globalThis.gc;
  if (collect === undefined) return () => {};
  let loop: EventLoopUtilization = performance.eventLoopUtilization();
  /** What it held at the least since it was last looked what is of use. */
  let usedBytes = process.memoryUsage.rss();
  let quiet = 0;
  const look = () => {
    const { utilization } = performance.eventLoopUtilization(loop);
    loop = performance.eventLoopUtilization();
    const before = process.memoryUsage.rss();
    usedBytes = Math.min(usedBytes, before);
    quiet = utilization > mostBusy ? 0 : quiet + 1;
    if (quiet < quietLooks || before < usedBytes + usualBytes) return;
    const began = performance.now();
    collect({ type: 'major', flavor: 'last-resort', execution: 'sync' });
    usedBytes = process.memoryUsage.rss();
    const [fromMb, toMb] = [before, usedBytes].map((bytes) => Math.round(bytes / 1024 ** 2));
    log.info({ fromMb, toMb, ms: Math.round(performance.now() - began) }, 'free memory given back');
  };
  const looking = setInterval(look, lookMs).unref();
  return () => clearInterval(looking);
}
