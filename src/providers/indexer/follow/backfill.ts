import type { IndexState } from '../store/write/index-state-store.ts';
import type { Follower } from './follower.ts';

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

const tries = 5;
const firstPauseMs = 250;

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
  let failures = 0;
  for (;;) {
    signal.throwIfAborted();
    const done = (await next()) - from;
    if (total > 0n) onProgress(done, total);
    try {
      const step = await follower.step();
      failures = 0;
      if (step === 'idle') return { completeTo: (await state())?.head?.number, blocks: done };
    } catch (error) {
      failures += 1;
      if (failures >= tries) throw error;
      await pause(firstPauseMs * 2 ** (failures - 1));
    }
  }
}
