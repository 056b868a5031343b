import type { BlockHeader, IndexedBlock } from '../decode/domain.ts';
import type { NodeBlocks } from './node-blocks.ts';

type Headers = Pick<NodeBlocks, 'headerAt'>;

// Filecoin has some heights without a block in a row. These are read one by one.
const mostInRow = 64n;

type Way = { readonly from: bigint; readonly step: 1n | -1n; readonly end: bigint };

/**
 * Returns the first block beyond a height at which nothing could be read. Of several gaps in a row it may be the
 * block after a later gap.
 */
async function firstBlock(blocks: Headers, { from, step, end }: Way): Promise<BlockHeader | undefined> {
  const room = step * (end - from);
  const at = (distance: bigint) => blocks.headerAt(from + step * distance);
  for (let distance = 1n; distance <= room && distance <= mostInRow; distance += 1n) {
    const header = await at(distance);
    if (header !== undefined) return header;
  }
  if (room <= mostInRow) return undefined;
  let without = mostInRow;
  let found: { readonly distance: bigint; readonly header: BlockHeader } | undefined;
  // Larger gaps are crossed in growing steps.
  for (let far = 2n * without; found === undefined && without < room; far *= 2n) {
    const distance = far < room ? far : room;
    const header = await at(distance);
    if (header === undefined) without = distance;
    else found = { distance, header };
  }
  while (found !== undefined && found.distance - without > 1n) {
    const distance: bigint = (without + found.distance) / 2n;
    const header = await at(distance);
    if (header === undefined) without = distance;
    else found = { distance, header };
  }
  return found?.header;
}

const nextBlock = (blocks: Headers, from: bigint, end: bigint) => firstBlock(blocks, { from, step: 1n, end });
const blockBefore = (blocks: Headers, from: bigint) => firstBlock(blocks, { from, step: -1n, end: 0n });

/**
 * Returns the number of the block that follows the head, where nothing could be read at some heights.
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

/** Returns whether the chain has no block at a height: the next block names as its parent the block before. */
export async function isWithoutBlock(
  blocks: Pick<NodeBlocks, 'headerAt' | 'head'>,
  height: bigint,
): Promise<boolean> {
  const [before, after] = await Promise.all([
    blockBefore(blocks, height),
    blocks.head().then((head) => nextBlock(blocks, height, head)),
  ]);
  return before !== undefined && after?.parentHash === before.hash;
}

/** A block with its place in the chain and nothing in it. */
export function emptyBlock(header: BlockHeader): IndexedBlock {
  const nothing = {
    transactions: [],
    skipped: [],
    metadataChanges: [],
    withoutReceipt: 0,
    isIncomplete: false,
  };
  const noCredits = { partialFees: 0, withdrawals: 0, credits: [], rewardsKnown: true };
  return { header, ...nothing, ...noCredits, traced: true };
}
