import { inTransaction } from '../../../db/connection/transaction.ts';
import { requeueFailedNft } from '../../minting/mint-state-store.ts';
import { findOwner, type Proving } from './mint-proof.ts';
import { type RequestedMint, wakeLanes } from './mint-remedy-store.ts';

/**
 * Queues a failed mint again, for the same recipient, unless its token belongs to somebody else: then it would fail
 * again. A token that the recipient has is found by the lane.
 * @returns why it was not queued, in words; undefined when it was
 * @throws when no node answers: then nothing has changed
 */
export async function retryMint(
  proving: Pick<Proving, 'db' | 'network' | 'node' | 'onChange'>,
  mint: RequestedMint,
): Promise<string | undefined> {
  const { nftId, recipient, tokenId } = mint;
  const owner = await findOwner(proving.node, mint);
  if (owner !== undefined && owner.toLowerCase() !== recipient?.toLowerCase()) {
    return `Token ${tokenId} belongs to ${owner}, so the mint would fail again. Give the NFT another: tallystick mint replace ${nftId}`;
  }
  const isQueued = await inTransaction(proving.db, async (tx) => {
    const queued = await requeueFailedNft(tx, nftId);
    if (!queued) return false;
    await wakeLanes(tx);
    await proving.onChange(tx, { state: 'queued' });
    return true;
  });
  return isQueued ? undefined : notFailed(nftId);
}

export const notFailed = (nftId: string): string =>
  `No NFT ${nftId} has failed. See: tallystick mint list --state failed`;
