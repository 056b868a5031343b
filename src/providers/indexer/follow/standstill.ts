import { isOutage } from '../../../db/connection/outage.ts';
import { IndexMovedError } from '../store/rollback/roll-back-store.ts';
import { BrokenChainError, ReorganisationTooDeepError } from './ancestor.ts';

/** Returns whether the database rejects the content of a block. Another try does not help then. */
export function isRefused(error: unknown): boolean {
  return !isOutage(error) && !(error instanceof IndexMovedError);
}

/** Why an index is stuck until somebody does something. */
export type Standstill = {
  /** The block that cannot be indexed; undefined where no single block is at fault. */
  readonly block: bigint | undefined;
  readonly reason: string;
};

// With the reader's own tries and the runner's pauses, about a minute at a node that answers at once.
const triesBeforeStuck = 8;

/**
 * Counts failures in a row at the same place of the chain. The returned function takes the error of a step with the
 * block that it could not index, and says whether the index is stuck. An outage proves nothing about a block, so its
 * failures change no count.
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
