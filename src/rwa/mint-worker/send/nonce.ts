import type { Head } from '../../../chain/minting/mint-node.ts';
import { findLostPast } from '../audit/lost-past.ts';
import type { LaneContext } from '../lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';
import { findHighestNonce, listOpenTransactions } from '../stores/transaction-store.ts';

/**
 * Finds the next nonce to use, from the stored transactions. When somebody else has used the key, nonces are
 * skipped only after all of our transactions are confirmed and the foreign ones are final: a reorganisation that
 * removed a foreign transaction would otherwise leave a nonce gap that nobody fills.
 * @returns the nonce, or why there is none yet
 */
export async function nextNonce(context: LaneContext, head: Head): Promise<bigint | Pause> {
  const { db, lease, log, network, node, signer } = context;
  const { address } = signer;
  const pending = await node.transactionCount(address, 'pending');
  const highest = await findHighestNonce(db, lease);
  // A key that we have not used yet continues with what is mined; whoever sent that does not matter.
  const ours = highest === undefined ? await node.transactionCount(address, 'latest') : highest + 1n;
  // Of nonces that are not stored, some may be of mints that the database has lost.
  if (highest === undefined && ours > 0n) {
    const lost = await findLostPast(context);
    if (lost !== undefined) return lost;
  }
  if (pending <= ours) return ours;

  const open = await listOpenTransactions(db, lease);
  const isInFlight = open.some(({ confirmedIn }) => confirmedIn === null);
  const finalized = await node.finalized(head, network.finalityDepth);
  if (!isInFlight && (await node.transactionCount(address, finalized)) === pending) {
    const lost = await findLostPast(context);
    if (lost !== undefined) return lost;
    log.warn({ ours: ours.toString(), next: pending.toString() }, 'nonces skipped: somebody else used them');
    return pending;
  }
  const detail = `Somebody else has used the key: ${pending} transactions, of which we know up to ${ours}.`;
  return { reason: 'foreign_nonce', detail };
}
