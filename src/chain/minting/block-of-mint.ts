import { NodeFault } from '../rpc/transport/node-fault.ts';
import type { MintEvent } from './evidence-node.ts';
import type { Block, MintNode } from './mint-node.ts';

/**
 * Finds the block of a mint.
 * @throws NodeFault when the node has another block in its place: the event is of another chain then
 */
export async function blockOfMint(
  node: Pick<MintNode, 'block'>,
  { blockHash, blockNumber }: MintEvent,
): Promise<Block> {
  const block = await node.block(blockNumber);
  if (block?.hash === blockHash) return block;
  throw new NodeFault('malformed', `it shows a mint in block ${blockHash}, which is not in its chain`);
}
