import type { Head } from '../../../chain/minting/mint-node.ts';
import { findFinalBlock, saveFinalBlock } from '../../minting/finality-store.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';

/**
 * Compares the chain with the stored block that was final, when the lane begins and whenever a newer block is final, and stores
 * that one.
 * @returns why nothing may be concluded from this chain: it lacks a block that was final
 */
export async function pauseForRollback(
  { db, lease, memory, network, node }: LaneContext,
  head: Head,
): Promise<Pause | undefined> {
  const { chainId } = lease;
  const finalized = await node.finalized(head, network.finalityDepth);
  if (memory.final !== undefined && finalized <= memory.final.number) return undefined;
  const stored = await findFinalBlock(db, chainId);
  if (stored !== undefined) {
    const found = stored.number > head.number ? null : await node.block(stored.number);
    if (found?.hash !== stored.hash) {
      memory.final = undefined;
      const present = found === null ? `ends at block ${head.number}` : `has ${found.hash} there`;
      const detail = `Block ${stored.number}, ${stored.hash}, was final, and the chain ${present}: it was rolled back, or started anew.`;
      return { reason: 'chain_rolled_back', detail };
    }
    memory.final = stored;
  }
  const block = finalized < 0n ? null : await node.block(finalized);
  if (block === null || (stored !== undefined && stored.number >= finalized)) return undefined;
  memory.final = { number: finalized, hash: block.hash };
  await saveFinalBlock(db, chainId, memory.final);
  return undefined;
}
