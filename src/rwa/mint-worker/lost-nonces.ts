import type { LaneContext } from './context/lane-context.ts';
import { finalCountOf } from './send/nonce.ts';
import type { Pause } from './stores/lane-store.ts';
import { findHighestEnded } from './stores/transaction-store.ts';

/**
 * Why a lane pauses whose signer has fewer transactions in final blocks than had ended there: the chain was rolled back, though it
 * has the block that is stored as final. Asked once for each final block.
 */
export async function pauseForLostNonces(context: LaneContext): Promise<Pause | undefined> {
  const { db, lease, memory, node, signer } = context;
  const { finalized } = node;
  if (finalized < 0n || memory.countedAt === finalized) return undefined;
  const nonce = await findHighestEnded(db, lease);
  const count = nonce === undefined ? undefined : await finalCountOf(context);
  // A node without the state of the block is not asked again about this block.
  if (nonce === undefined || count === undefined || count > nonce) {
    memory.countedAt = finalized;
    return undefined;
  }
  const detail =
    `The transaction of ${signer.address} with nonce ${nonce} was final, and up to the final block ${finalized} the chain ` +
    `has only ${count} of this signer: the chain was rolled back.`;
  return { reason: 'chain_rolled_back', detail };
}
