import type { LaneContext } from './context/lane-context.ts';
import { inFencedTransaction, type Pause } from './stores/lane-store.ts';
import {
  deleteOutdatedNotes,
  isQueueStill,
  noteAbsentSigner,
  noteStillSubmitted,
} from './stores/standstill-store.ts';

const sweepMs = 5_000;

/**
 * Creates the sweep of a lane that leaves no NFT without a reason. It notes an NFT as `unexplained` that has not moved for
 * `standstillSeconds`, while neither the NFT nor its lanes have a reason. It also deletes notes that are no longer true. It asks
 * no node.
 * @returns a function for each poll, which returns why the lane does not send
 */
export function createStandstillSweep() {
  let sweptAt = Number.NEGATIVE_INFINITY;
  let found: Pause | undefined;

  return async (
    context: LaneContext,
    pause: Pause | undefined,
    /** Why no block becomes final, in words; undefined when blocks do. */
    notFinal: string | undefined,
  ): Promise<Pause | undefined> => {
    const { db, lease, memory, now, settings } = context;
    if (now() - sweptAt < sweepMs) return pause ?? found;
    sweptAt = now();
    const seconds = settings.standstillSeconds;
    const still = { lane: lease, seconds };
    await inFencedTransaction(db, lease, async (tx) => {
      await deleteOutdatedNotes(tx, lease, notFinal);
      if (pause?.reason === 'no_signer') await noteAbsentSigner(tx, lease, pause);
      await noteStillSubmitted(tx, still, memory.transactions, { pause, notFinal });
    });
    const detail = `Nothing was sent for ${seconds} seconds, though NFTs are queued.`;
    found =
      pause === undefined && (await isQueueStill(db, still)) ? { reason: 'unexplained', detail } : undefined;
    return pause ?? found;
  };
}
