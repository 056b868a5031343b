import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import { isOutage } from '../../../db/connection/outage.ts';
import { IndexMovedError } from '../store/rollback/roll-back-store.ts';
import { recordStandstill } from '../store/write/index-state-store.ts';
import { BrokenChainError, ReorganisationTooDeepError } from './ancestor.ts';

/** Returns whether the database rejects the content of a block. Another try does not help then. */
export function isRefusedBlock(error: unknown): boolean {
  return !isOutage(error) && !(error instanceof IndexMovedError);
}

// With the reader's own tries and the runner's pauses, about a minute at a node that answers at once.
const triesBeforeStuck = 8;

type WatchOptions = { readonly chainId: string; readonly db: Database; readonly log: Logger };

/**
 * Counts failures in a row at the same place of the chain, and records once that the index is stuck and once that it
 * goes on. An outage proves nothing about a block, so its failures change no count.
 */
export function createStandstillWatch({ chainId, db, log }: WatchOptions) {
  let place: string | undefined;
  let times = 0;
  // An earlier process may have left the index stuck.
  let told: { readonly block: bigint | undefined; readonly reason: string } | undefined | 'unknown' =
    'unknown';
  return {
    async succeeded(): Promise<void> {
      times = 0;
      if (told === undefined) return;
      await recordStandstill(db, chainId, undefined);
      if (told !== 'unknown') log.info({ chainId }, 'the index goes on');
      told = undefined;
    },
    /** @param block that the step could not index; undefined where no single block is at fault */
    async failed(error: Error, block: bigint | undefined): Promise<void> {
      if (block === undefined && !isOfBranch(error)) return;
      const name = String(block);
      times = place === name ? times + 1 : 1;
      place = name;
      if (times < triesBeforeStuck) return;
      const reason = block === undefined ? error.message : blockedReason(chainId, block, error.message);
      const before = told === 'unknown' ? undefined : told;
      if (before?.reason === reason) return;
      if (before?.block !== block || before === undefined)
        log.error({ chainId, block, reason }, 'the index is stuck');
      await recordStandstill(db, chainId, { block, reason });
      told = { block, reason };
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
