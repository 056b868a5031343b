import { constants, setPriority } from 'node:os';
import type { Config } from './config.ts';

/**
 * Lets processes that answer callers go first where they share a machine with one that answers none: mints and indexing lose a few
 * milliseconds there, callers would wait for whole batches.
 */
export function giveWay(roles: Config['ROLES']): void {
  if (roles.includes('api')) return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may forbid it: then all have equal shares.
  }
}
