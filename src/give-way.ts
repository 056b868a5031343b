import { constants } from 'node:os';
import type { Config } from './config.ts';
import { setNice } from './own-priority.ts';

/**
 * Lets callers go first where processes that answer them share a machine with a worker: a mint loses some milliseconds there, and a
 * caller would wait for whole batches of a queue. An indexer keeps its share, so that callers cannot leave it behind for good.
 * Among containers and units with weights of their own those decide, which `deploy/` sets.
 */
export function giveWay(roles: Config['ROLES']): void {
  if (roles.includes('api') || !roles.includes('worker')) return;
  try {
    setNice(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may forbid it: then all have equal shares.
  }
}
