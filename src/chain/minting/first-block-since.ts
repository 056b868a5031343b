import type { MintNode } from './mint-node.ts';

/**
 * Finds the first block of this time or later. It asks for about thirty headers at most, and for fewer when the block is
 * new.
 * @param newest the newest block that it reads
 * @returns the block after the newest when none is
 * @throws when a node does not answer
 */
export async function firstBlockSince(
  node: Pick<MintNode, 'block'>,
  since: Date,
  newest: bigint,
): Promise<bigint> {
  const isBefore = async (number: bigint): Promise<boolean> => {
    const block = await node.block(number);
    if (block === null) throw new Error(`The node does not have block ${number}.`);
    return block.time.getTime() < since.getTime();
  };
  let high = newest + 1n;
  let low = 0n;
  for (let stride = 1n; stride < high; stride *= 4n) {
    if (await isBefore(newest + 1n - stride)) {
      low = newest + 2n - stride;
      break;
    }
    high = newest + 1n - stride;
  }
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await isBefore(middle)) low = middle + 1n;
    else high = middle;
  }
  return low;
}
