import type { Block } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from './lane-context.ts';
import { remember } from './rests.ts';

/**
 * Whether the chain shows the same as in an earlier poll, whose block is still in it and final now. A poll may see another chain,
 * or a lie, so a conclusion that cannot be taken back needs two. Both may see the same block: some chains make none without a
 * transaction.
 * @param subject what the chain shows
 * @param at the block at which it is `seen`
 */
export async function isSeenTwice(
  { memory, network, node }: Pick<LaneContext, 'memory' | 'network' | 'node'>,
  subject: string,
  seen: string,
  { number, hash }: Pick<Block, 'number' | 'hash'>,
): Promise<boolean> {
  const first = memory.firstLooks.get(subject);
  if (first?.seen !== seen) {
    remember(memory.firstLooks, subject, { seen, number, hash });
    return false;
  }
  if (node.finalized < first.number) return false;
  const [block, chainId] = await Promise.all([node.block(first.number), node.chainId()]);
  if (block?.hash === first.hash && chainId.toString() === network.chainId) return true;
  memory.firstLooks.delete(subject);
  return false;
}
