import pLimit, { type LimitFunction } from 'p-limit';
import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { IndexedBlock } from '../decode/domain.ts';
import { MalformedBlockError } from '../decode/hex.ts';
import { rollBackBlocks } from '../store/rollback/roll-back-store.ts';
import { appendBlocks } from '../store/write/block-store.ts';
import {
  beginIndex,
  findIndexState,
  type IndexProgress,
  recordNodeState,
  type TraceMethod,
} from '../store/write/index-state-store.ts';
import { listSkips } from '../store/write/skipped-block-store.ts';
import { BrokenChainError, compareBranches, NodeBelowError } from './ancestor.ts';
import { createBlockWindow, type WindowOptions } from './block-window.ts';
import { afterGap } from './height-gaps.ts';
import type { NodeBlocks } from './node-blocks.ts';
import { isRefusedBlock } from './standstill.ts';

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
  /** The block that the last step could not index, though the node had answered before; undefined after any other outcome. */
  blockedAt(): bigint | undefined;
};

/** Callbacks of a follower, called after each commit and after a step that failed. */
export type FollowerEvents = {
  /** @param isNewest whether the last block is the newest that the node had */
  onAppend(blocks: readonly IndexedBlock[], isNewest: boolean): void;
  onRollBack(): void;
  onFailure(): void;
};

export type FollowerOptions = WindowOptions & {
  readonly startBlock: bigint;
  readonly traceMethod: TraceMethod;
  readonly db: Database;
  readonly blocks: NodeBlocks;
  readonly log: Logger;
  readonly events?: FollowerEvents | undefined;
  /** Waits until this index may write; never by default. */
  readonly inTurn?: LimitFunction | undefined;
  /** Greatest number of blocks in one transaction. */
  readonly maxBatch: number;
  /** The last block to index; undefined follows the chain for ever. */
  readonly upTo?: bigint | undefined;
  /** How long the node may be below the index before that is an error, in milliseconds. */
  readonly belowPatienceMs?: number | undefined;
};

// As long as a node of a lane may show no new block. A node that lags behind others at its address has caught up by
// then.
const usualBelowPatienceMs = 2 * 60_000;
// How often a block may be absent at a node that is beyond it, before that is a failure.
const patience = 5;

/**
 * Follows the chain of one network. One follower should run per network. A second follower does no harm, because
 * every write is conditional on the head that it follows.
 */
export function createFollower(options: FollowerOptions): Follower {
  const { chainId, startBlock, db, blocks, log, maxBatch, events, inTurn = pLimit(1) } = options;
  const { belowPatienceMs = usualBelowPatienceMs } = options;
  let skips: ReadonlySet<bigint> = new Set();
  const window = createBlockWindow(options, (number) => skips.has(number));
  let state: IndexProgress | undefined;
  const isStillAbsent = createPatience();
  let blockedAt: bigint | undefined;
  let most = maxBatch;
  // The block that follows the head, where the heights between have none.
  let following: { readonly head: string | undefined; readonly number: bigint } | undefined;

  const finalizedAt = createFinality(db, chainId, blocks);
  // Such a node answers and gives nothing to do, so without an error nobody would notice it.
  let belowSince: number | undefined;

  const rollBackFrom = async (head: Head): Promise<Step> => {
    window.drop();
    const begun = state?.startBlock ?? startBlock;
    const comparison = await compareBranches({ db, blocks, chainId, startBlock: begun, head });
    if (comparison === 'same') return 'idle';
    const { keep } = comparison;
    await rollBackBlocks(db, chainId, head.hash, keep === undefined ? undefined : { number: keep });
    events?.onRollBack();
    state = await findIndexState(db, chainId);
    skips = await listSkips(db, chainId, keep ?? -1n);
    log.info({ chainId, from: head.number, to: keep }, 'rolled back replaced blocks');
    return 'rolled_back';
  };

  const advance = async (from: bigint, end: bigint, present: bigint): Promise<Step> => {
    const taken = await window.take({ from, end, finalized: present, most });
    const { blocks: found, finalized, failure } = taken;
    const first = found[0];
    const last = found.at(-1);
    const head = state?.head;
    if (first === undefined || last === undefined) {
      const next = await afterGap(blocks, head, from, end).catch((error: unknown) => {
        // No header can be read around a block that cannot be read. That block is at fault.
        if (failure !== undefined && error instanceof MalformedBlockError) return undefined;
        throw error;
      });
      if (typeof next === 'bigint') following = { head: head?.hash, number: next };
      if (typeof next === 'bigint') return 'advanced';
      if (next === 'other' && head !== undefined && (await rollBackFrom(head)) !== 'idle')
        return 'rolled_back';
      // Nodes behind one address may lag behind each other. A block that is absent for long is a fault of the node.
      if (failure === undefined && (!isStillAbsent(from) || from === end)) return 'idle';
      blockedAt = from;
      throw failure?.error ?? absentBlock(from, end);
    }
    if (head !== undefined && first.header.parentHash !== head.hash) {
      const step = await rollBackFrom(head);
      // The node has our head, and a block that does not follow it.
      if (step !== 'idle' || !isStillAbsent(from) || from === end) return step;
      throw new BrokenChainError(chainId, from);
    }
    const write = () => appendBlocks(db, chainId, head?.hash, found, finalized);
    await inTurn(write).catch((error: unknown) => {
      // The batch may contain blocks before it. The next batch has this block only.
      if (found.length === 1 && isRefusedBlock(error)) blockedAt = from;
      throw error;
    });
    most = Math.min(maxBatch, 2 * most);
    events?.onAppend(found, last.header.number === end);
    if (state !== undefined) state = { ...state, head: headAt(last) };
    return 'advanced';
  };

  return {
    blockedAt: () => blockedAt,
    async step() {
      blockedAt = undefined;
      try {
        if (state === undefined) {
          state = await beginIndex(db, chainId, startBlock, options.traceMethod);
          skips = await listSkips(db, chainId, state.head?.number ?? -1n);
        }
        const { number: nodeHead, hash } = await blocks.newest();
        const { finalized, isMoved } = await finalizedAt(nodeHead, state.head?.hash);
        if (isMoved) {
          // An operator deleted the index, or another process writes it.
          state = undefined;
          window.drop();
          return 'rolled_back';
        }
        const { head } = state;
        if (head === undefined || nodeHead >= head.number) belowSince = undefined;
        else belowSince ??= performance.now();
        const next = head === undefined ? state.startBlock : head.number + 1n;
        const from = following?.head === head?.hash ? (following?.number ?? next) : next;
        const last = options.upTo !== undefined && options.upTo < nodeHead ? options.upTo : nodeHead;
        if (from <= last) return await advance(from, last, finalized);
        // A prefetched block may be replaced by the time that the node is back.
        window.drop();
        if (head !== undefined && head.hash !== hash && (await rollBackFrom(head)) === 'rolled_back')
          return 'rolled_back';
        if (belowSince !== undefined && performance.now() - belowSince >= belowPatienceMs)
          throw new NodeBelowError(chainId, nodeHead, head?.number);
        return 'idle';
      } catch (error) {
        // The cached state may have caused the error, or one block of many.
        state = undefined;
        most = 1;
        window.drop();
        events?.onFailure();
        throw error;
      }
    },
  };
}

const absentBlock = (number: bigint, nodeHead: bigint) =>
  new MalformedBlockError(`block ${number}, though the node is at ${nodeHead},`, undefined);

/** @returns a function that says whether a block was absent too often */
function createPatience() {
  const absent = { number: -1n, times: 0 };
  return (number: bigint): boolean => {
    absent.times = absent.number === number ? absent.times + 1 : 1;
    absent.number = number;
    return absent.times > patience;
  };
}

// The index counts as alive this often though nothing happens.
const noteMs = 5_000;

/**
 * Asks for the final block and records it with the newest block. While the newest block stays the same, it asks only
 * now and then: there is mostly nothing new, and many providers charge for each question. The returned function also
 * says whether the index has another head than the given head.
 */
function createFinality(db: Database, chainId: string, blocks: NodeBlocks) {
  let last = { nodeHead: -1n, finalized: -1n, at: 0 };
  return async (nodeHead: bigint, head: string | undefined) => {
    const at = performance.now();
    if (last.nodeHead === nodeHead && at - last.at < noteMs)
      return { finalized: last.finalized, isMoved: false };
    const finalized = await blocks.finalized(nodeHead);
    const stored = await recordNodeState(db, chainId, { nodeHead, finalized });
    last = { nodeHead, finalized, at };
    return { finalized, isMoved: stored !== (head ?? null) };
  };
}

type Head = NonNullable<IndexProgress['head']>;

function headAt({ header: { number, hash, timestamp } }: IndexedBlock): Head {
  return { number, hash, time: new Date(Number(timestamp) * 1_000) };
}
