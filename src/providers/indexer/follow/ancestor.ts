import type { Database } from '../../../contract/transaction.ts';
import { type BlockName, listRecentBlocks } from '../store/write/block-store.ts';
import type { NodeBlocks } from './node-blocks.ts';

/** The chain was reorganised below its final block. Nothing was rolled back, because an operator must decide. */
export class ReorganisationTooDeepError extends Error {
  constructor(chainId: string, number: bigint) {
    super(
      `Network ${chainId} was reorganised at or below block ${number}, which counts as final. ` +
        `If its chain was begun anew: tallystick index reset ${chainId}`,
    );
    this.name = 'ReorganisationTooDeepError';
  }
}

/** The node has our newest block, and another chain above it. Nodes behind its address disagree. */
export class BrokenChainError extends Error {
  constructor(chainId: string, number: bigint) {
    super(
      `Block ${number} of network ${chainId} does not follow the one before it, which the same node has. ` +
        `Ask another one: tallystick network update ${chainId} --rpc-url <url>`,
    );
    this.name = 'BrokenChainError';
  }
}

/** The node has been below the index for long, on the same branch as far as it goes. */
export class NodeBelowError extends Error {
  constructor(chainId: string, nodeHead: bigint, head: bigint | undefined) {
    super(
      `The node of network ${chainId} is at block ${nodeHead}, below the index, which is at ${head}. ` +
        `Ask another one: tallystick network update ${chainId} --rpc-url <url>. ` +
        `If its chain was begun anew: tallystick index reset ${chainId}`,
    );
    this.name = 'NodeBelowError';
  }
}

type CompareOptions = {
  readonly db: Database;
  readonly blocks: Pick<NodeBlocks, 'headerAt'>;
  readonly chainId: string;
  readonly startBlock: bigint;
  /** Our newest block. */
  readonly head: BlockName;
};

const pageSize = 32;

/**
 * Compares our newest blocks with the node's, downwards, until one matches. A number that the node does not have
 * proves nothing: a node that lags is no reorganisation.
 * @returns `same` where the node is on our branch, or behind on it; otherwise our newest block that was not replaced,
 * undefined where all were
 * @throws ReorganisationTooDeepError when no block that may be replaced matches
 */
export async function compareBranches({
  db,
  blocks,
  chainId,
  startBlock,
  head,
}: CompareOptions): Promise<'same' | { readonly keep: bigint | undefined }> {
  let differed = false;
  let below: bigint | undefined;
  for (;;) {
    const ours = await listRecentBlocks(db, chainId, pageSize, below);
    // Below the node's final block no hash is kept, as while an index catches up. That block is not rolled back then
    // either.
    if (ours.length === 0 && below === undefined) {
      const theirs = await blocks.headerAt(head.number);
      if (theirs === undefined || theirs.hash === head.hash) return 'same';
      throw new ReorganisationTooDeepError(chainId, head.number);
    }
    for (const { number, hash } of ours) {
      const theirs = await blocks.headerAt(number);
      if (theirs?.hash === hash) return differed ? { keep: number } : 'same';
      if (theirs !== undefined) differed = true;
      below = number;
    }
    if (ours.length === pageSize) continue;
    if (!differed) return 'same';
    if (below === startBlock) return { keep: undefined };
    throw new ReorganisationTooDeepError(chainId, below ?? startBlock);
  }
}
