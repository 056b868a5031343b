import { isOutage } from '../../../db/connection/outage.ts';
import { IndexMovedError } from '../store/rollback/roll-back-store.ts';
import { BrokenChainError, ReorganisationTooDeepError } from './ancestor.ts';

/** Whether the database refuses what a block holds; then trying again does not help. */
export function isRefused(error: unknown): boolean {
  return !isOutage(error) && !(error instanceof IndexMovedError);
}

/** Why an index stands still until somebody does something. */
export type Standstill = {
  /** The block that cannot be indexed; undefined where no single block is at fault. */
  readonly block: bigint | undefined;
  readonly reason: string;
};

// With the reader's own tries and the runner's pauses, about a minute at a node that answers at once.
const triesBeforeStuck = 8;

/**
 * Counts failures that come one after the other at the same place of the chain. The function that it returns takes the
 * error of a step with the block that it could not index, and tells whether the index is stuck. An outage says
 * nothing of a block: its failures neither count nor forgive.
 */
export function createStandstillWatch(chainId: string) {
  let place: string | undefined;
  let times = 0;
  return {
    succeeded() {
      times = 0;
    },
    failed(error: Error, block: bigint | undefined): Standstill | undefined {
      if (block === undefined && !isOfBranch(error)) return undefined;
      const name = String(block);
      times = place === name ? times + 1 : 1;
      place = name;
      if (times < triesBeforeStuck) return undefined;
      return {
        block,
        reason: block === undefined ? error.message : blockedReason(chainId, block, error.message),
      };
    },
  };
}

const isOfBranch = (error: Error) =>
  error instanceof ReorganisationTooDeepError || error instanceof BrokenChainError;

/** Why a block cannot be indexed, and what the operator can do. */
export function blockedReason(chainId: string, block: bigint, message: string): string {
  return (
    `Block ${block} cannot be indexed: ${message.replace(/\.$/, '')}. ` +
    `To leave it out: tallystick index skip ${chainId} ${block}`
  );
}
