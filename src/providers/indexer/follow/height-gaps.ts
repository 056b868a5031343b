import type { BlockHeader, IndexedBlock } from '../decode/domain.ts';
import type { NodeBlocks } from './node-blocks.ts';

type Headers = Pick<NodeBlocks, 'headerAt'>;

// Filecoin has some heights without a block in a row, and never so many.
const mostWithout = 64n;

/** The first block above a height at which nothing could be read. */
async function nextBlock(blocks: Headers, from: bigint, end: bigint): Promise<BlockHeader | undefined> {
  for (let number = from + 1n; number <= end && number <= from + mostWithout; number += 1n) {
    const header = await blocks.headerAt(number);
    if (header !== undefined) return header;
  }
  return undefined;
}

/**
 * The number of the block that follows the head, where nothing could be read at some heights.
 * @param head undefined before the first block of an index
 * @returns `other` where the next block has another parent; undefined where there is none
 */
export async function afterGap(
  blocks: Headers,
  head: { readonly hash: string } | undefined,
  from: bigint,
  end: bigint,
): Promise<bigint | 'other' | undefined> {
  const next = await nextBlock(blocks, from, end);
  if (next === undefined) return undefined;
  const before = head ?? (await blockBefore(blocks, from));
  return next.parentHash === before?.hash ? next.number : 'other';
}

/** The first block below a height. */
async function blockBefore(blocks: Headers, height: bigint): Promise<BlockHeader | undefined> {
  for (let number = height - 1n; number >= 0n && number >= height - mostWithout; number -= 1n) {
    const header = await blocks.headerAt(number);
    if (header !== undefined) return header;
  }
  return undefined;
}

/** Whether the chain has no block at a height: the next one names as its parent the one before. */
export async function isWithoutBlock(blocks: Headers, height: bigint): Promise<boolean> {
  const [before, after] = await Promise.all([
    blockBefore(blocks, height),
    nextBlock(blocks, height, height + mostWithout),
  ]);
  return before !== undefined && after?.parentHash === before.hash;
}

/** A block with its place in the chain and nothing in it. */
export function emptyBlock(header: BlockHeader): IndexedBlock {
  const nothing = { transactions: [], skipped: [], metadataChanges: [], withoutReceipt: 0 };
  const noCredits = { partialFees: 0, withdrawals: 0, credits: [], rewardsKnown: true };
  return { header, ...nothing, ...noCredits, traced: true };
}
