import type { Database } from '../../../contract/transaction.ts';
import type { Logger } from '../../../log.ts';
import { decodeBlock } from '../decode/decode-block.ts';
import type { IndexedBlock } from '../domain.ts';
import { appendBlocks } from '../store/block-store.ts';
import {
  beginIndex,
  findIndexState,
  type IndexState,
  recordNodeState,
  type TraceMethod,
} from '../store/index-state-store.ts';
import { rollBackBlocks } from '../store/roll-back-store.ts';
import type { AdaptiveLimit } from './adaptive-limit.ts';
import { compareBranches } from './ancestor.ts';
import type { NodeBlocks } from './node-blocks.ts';

/**
 * - `advanced`: blocks were added;
 * - `rolled_back`: blocks that the chain replaced were removed;
 * - `idle`: there is nothing to do until the node has a new block.
 */
export type Step = 'advanced' | 'rolled_back' | 'idle';

export type Follower = {
  /**
   * Does the next unit of work. It is atomic: after a rejection nothing is half written, and it may be called again.
   */
  step(): Promise<Step>;
};

/** Callbacks of a follower, called after each commit. */
export type FollowerEvents = {
  onAppend(blocks: readonly IndexedBlock[]): void;
  onRollBack(): void;
};

export type FollowerOptions = {
  readonly chainId: string;
  readonly startBlock: bigint;
  readonly traceMethod: TraceMethod;
  readonly wrapped: ReadonlySet<string>;
  readonly db: Database;
  readonly blocks: NodeBlocks;
  readonly limit: AdaptiveLimit;
  readonly log: Logger;
  readonly events?: FollowerEvents | undefined;
  /** Greatest number of blocks in one transaction. */
  readonly maxBatch: number;
  /** The last block to index; undefined follows the chain for ever. */
  readonly upTo?: bigint | undefined;
};

// Large enough for the bulk insert to pay, small enough to bound memory for blocks of any size: three batches are in
// memory, one being written, one arriving and one requested.
const batchTransactions = 1_000;

/**
 * Follows the chain of one network. One follower should run per network; a second one does no harm, since every
 * write is conditional on the head that it follows.
 */
export function createFollower(options: FollowerOptions): Follower {
  const { chainId, startBlock, db, blocks, log, maxBatch, events } = options;
  const reader = createReadAhead(createRangeReader(options));
  let state: IndexState | undefined;
  let batch = Math.min(16, maxBatch);

  const rollBackFrom = async (head: NonNullable<IndexState['head']>): Promise<Step> => {
    reader.drop();
    const begun = state?.startBlock ?? startBlock;
    const comparison = await compareBranches({ db, blocks, chainId, startBlock: begun });
    if (comparison.outcome === 'same') return 'idle';
    const { keep } = comparison;
    await rollBackBlocks(db, chainId, head.hash, keep === undefined ? undefined : { number: keep });
    events?.onRollBack();
    state = await findIndexState(db, chainId);
    log.info({ chainId, from: head.number, to: keep }, 'rolled back replaced blocks');
    return 'rolled_back';
  };

  const advance = async (from: bigint, end: bigint, finalized: bigint): Promise<Step> => {
    const taken = reader.take({ from, to: lastOf(from, batch, end), finalized });
    // Prefetches the next blocks while these arrive and the database writes them.
    const next = taken.to + 1n;
    if (next <= end) reader.prepare({ from: next, to: lastOf(next, batch, end), finalized });
    const found = await taken.found;
    const first = found[0];
    const last = found.at(-1);
    const head = state?.head;
    if (first === undefined || last === undefined) return 'idle';
    if (head !== undefined && first.header.parentHash !== head.hash) return rollBackFrom(head);
    batch = batchAfter(found, maxBatch);
    await appendBlocks(db, chainId, head?.hash, found, taken.finalized);
    events?.onAppend(found);
    if (state !== undefined) state = { ...state, head: headAt(last) };
    return 'advanced';
  };

  return {
    async step() {
      try {
        state ??= await beginIndex(db, chainId, startBlock, options.traceMethod);
        const nodeHead = await blocks.head();
        const finalized = await blocks.finalized(nodeHead);
        await recordNodeState(db, chainId, { nodeHead, finalized });
        const { head } = state;
        const from = head === undefined ? state.startBlock : head.number + 1n;
        const last = options.upTo !== undefined && options.upTo < nodeHead ? options.upTo : nodeHead;
        if (from <= last) return await advance(from, last, finalized);
        return head === undefined ? 'idle' : await rollBackFrom(head);
      } catch (error) {
        // The cached state may have caused the error.
        state = undefined;
        reader.drop();
        throw error;
      }
    },
  };
}

/** Reads and decodes blocks in parallel. @returns those that form a chain, up to the first that is missing */
function createRangeReader({ blocks, limit, wrapped }: FollowerOptions) {
  const read = (number: bigint) =>
    limit.run(async () => {
      const source = await blocks.blockAt(number);
      return source && decodeBlock(source, wrapped);
    });
  return async (from: bigint, to: bigint): Promise<IndexedBlock[]> => {
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
    return linked(await Promise.all(numbers.map(read)));
  };
}

type ReadRange = (from: bigint, to: bigint) => Promise<IndexedBlock[]>;

function headAt({ header: { number, hash, timestamp } }: IndexedBlock): NonNullable<IndexState['head']> {
  return { number, hash, time: new Date(Number(timestamp) * 1_000) };
}

type Range = {
  readonly from: bigint;
  readonly to: bigint;
  /** The final block before the range was read: a later one may be final on another branch than the blocks read. */
  readonly finalized: bigint;
};
type ReadingRange = Range & { readonly found: Promise<IndexedBlock[]> };

/** Reads a range, or returns the prefetched one with the same first block. */
function createReadAhead(read: ReadRange) {
  let ahead: ReadingRange | undefined;
  const begin = (range: Range): ReadingRange => ({ ...range, found: read(range.from, range.to) });
  return {
    take(range: Range): ReadingRange {
      const taken = ahead?.from === range.from ? ahead : begin(range);
      ahead = undefined;
      return taken;
    },
    prepare(range: Range) {
      ahead = begin(range);
      ahead.found.catch(() => {}); // take() passes the error on
    },
    drop() {
      ahead = undefined;
    },
  };
}

function lastOf(from: bigint, batch: number, end: bigint): bigint {
  const last = from + BigInt(batch) - 1n;
  return last < end ? last : end;
}

/** The blocks up to the first that is missing or does not follow its predecessor. */
function linked(blocks: readonly (IndexedBlock | undefined)[]): IndexedBlock[] {
  const chain: IndexedBlock[] = [];
  for (const block of blocks) {
    const before = chain.at(-1);
    if (block === undefined) break;
    if (before !== undefined && block.header.parentHash !== before.header.hash) break;
    chain.push(block);
  }
  return chain;
}

function batchAfter(blocks: readonly IndexedBlock[], maxBatch: number): number {
  const transactions = blocks.reduce((sum, block) => sum + block.transactions.length, 0);
  const perBlock = Math.max(1, transactions / blocks.length);
  const wanted = Math.max(1, Math.floor(batchTransactions / perBlock));
  // At most doubles, so that a run of empty blocks does not lead to hundreds of full ones at once.
  return Math.min(maxBatch, wanted, blocks.length * 2);
}
