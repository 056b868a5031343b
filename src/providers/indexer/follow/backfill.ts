import type { IndexState } from '../store/write/index-state-store.ts';
import type { Follower } from './follower.ts';
import { createTries } from './tries.ts';

type BackfillOptions = {
  /** Must index nothing above `to`. */
  readonly follower: Follower;
  /** The first block, for an index that has not begun. */
  readonly startBlock: bigint;
  readonly state: () => Promise<IndexState | undefined>;
  readonly to: bigint;
  /** Stops after the current step. */
  readonly signal: AbortSignal;
  readonly onProgress: (done: bigint, total: bigint) => void;
  readonly pause: (ms: number) => Promise<unknown>;
};

/** The outcome: the newest block of the index, and the number of blocks that were added. */
export type Backfilled = { readonly completeTo: bigint | undefined; readonly blocks: bigint };

/**
 * Indexes up to a block. Added blocks stay, also when it rejects.
 * @throws the reason of the signal; the error of the node or the database, after several tries
 */
export async function backfill(options: BackfillOptions): Promise<Backfilled> {
  const { follower, state, startBlock, to, signal, onProgress, pause } = options;
  const next = async () => {
    const { head, startBlock: begun = startBlock } = (await state()) ?? {};
    return head === undefined ? begun : head.number + 1n;
  };
  const from = await next();
  const total = to + 1n - from;
  const tried = createTries({ tries: 6, pause });
  for (;;) {
    signal.throwIfAborted();
    const done = (await next()) - from;
    if (total > 0n) onProgress(done, total);
    const step = await tried(() => follower.step());
    if (step === 'idle') return { completeTo: (await state())?.head?.number, blocks: done };
  }
}
