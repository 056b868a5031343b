import type { Proving } from './mint-proof.ts';
import { askFill, findNonces } from './mint-remedy-store.ts';

export type FillAsked = { readonly nonce: string };

/**
 * Asks the lane of a signer to use the next nonce of the chain with a transfer of nothing to itself. Only when the chain
 * has not used the nonce, the database has no mint for it, and a transaction of ours waits above it.
 * @returns the nonce, or why nothing was asked, in words
 * @throws when no node answers: then nothing has changed
 */
export async function askToFill(
  { db, network, node, onChange }: Pick<Proving, 'db' | 'network' | 'node' | 'onChange'>,
  signer: string,
): Promise<FillAsked | string> {
  const lane = { chainId: network.chainId, signer };
  const [count, final] = await Promise.all([
    node.transactionCount(signer, 'latest'),

    node.transactionCount(signer, node.finalized),
  ]);
  if (final > count) return `The node contradicts itself: ${final} transactions are final, of ${count}.`;
  const { isStored, isFilling, isWaitedFor } = await findNonces(db, lane, count);
  if (isStored && !isFilling)
    return `Nonce ${count} is that of a transaction in flight. See: tallystick mint show`;
  if (!isFilling && !isWaitedFor) return `There is no gap: nothing waits for nonce ${count} of ${signer}.`;
  const asked = { nonce: count.toString() };
  const isAsked = await askFill(db, lane, count, (tx) => onChange(tx, { signer, ...asked }));
  if (!isAsked) return `There is no lane of ${signer} on network ${lane.chainId}. See: tallystick mint show`;
  return asked;
}
