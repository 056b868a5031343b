import type { Head } from '../../chain/minting/mint-node.ts';
import type { LaneContext } from './context/lane-context.ts';
import { inFencedTransaction, type Pause } from './stores/lane-store.ts';
import { deleteOutdatedNotes, isQueueStill, noteStillSubmitted } from './stores/standstill-store.ts';

// A mint that moves gets into a block, is replaced once when it is stuck, and waits for its confirmations.
const timesNormal = 5;
// A chain without blocks cannot measure in blocks.
const longestSeconds = 3_600;
const sweepMs = 5_000;

/** How many blocks that the lane has seen an NFT may go without a change before that needs a reason. */
const normalBlocks = (confirmations: number, stuckBlocks: number): number =>
  timesNormal * (confirmations + stuckBlocks);

/**
 * Creates the sweep of a lane that leaves no NFT without a reason. It notes an NFT as `unexplained` that has not moved for
 * {@link normalBlocks} or an hour, while neither the NFT nor its lanes have a reason. It also deletes notes that are no
 * longer true. It asks no node.
 * @returns a function for each poll, which returns why the lane does not send
 */
export function createStandstillSweep() {
  const pace = createBlockPace();
  let sweptAt = Number.NEGATIVE_INFINITY;
  let found: Pause | undefined;

  return async (context: LaneContext, head: Head, pause: Pause | undefined): Promise<Pause | undefined> => {
    const { db, lease, memory, network, now, settings } = context;
    const blocks = normalBlocks(network.confirmations, Math.min(settings.stuckBlocks, maxStuckBlocks));
    const seconds = Math.min(pace(head.number, blocks, now()), longestSeconds);
    if (now() - sweptAt < sweepMs) return pause ?? found;
    sweptAt = now();
    const still = { lane: lease, seconds };
    await inFencedTransaction(db, lease, async (tx) => {
      await deleteOutdatedNotes(tx, lease.chainId);
      await noteStillSubmitted(tx, still, memory.transactions, pause);
    });
    const detail = `Nothing was sent for ${blocks} blocks or an hour, though NFTs are queued.`;
    found =
      pause === undefined && (await isQueueStill(db, still)) ? { reason: 'unexplained', detail } : undefined;
    return pause ?? found;
  };
}

// A lane that only watches replaces nothing, however long that takes.
const maxStuckBlocks = 10_000;

/**
 * Creates the measure of how long the lane took to see so many blocks, in seconds. It is infinite until the lane has seen as
 * many. Blocks between two polls do not count: a slow node must not make a lane seem to stall.
 */
export function createBlockPace() {
  let seen: { readonly number: bigint; readonly at: number }[] = [];
  return (number: bigint, blocks: number, at: number): number => {
    if (seen.at(-1)?.number !== number) seen = [...seen, { number, at }].slice(-blocks - 1);
    const [oldest] = seen;
    const isKnown = oldest !== undefined && seen.length > blocks;
    return isKnown ? (at - oldest.at) / 1_000 : Number.POSITIVE_INFINITY;
  };
}
