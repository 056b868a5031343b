import { inTransaction } from '../../../db/connection/transaction.ts';
import { deleteMintNotes } from '../../minting/mint-note-store.ts';
import { cancelNft } from '../../minting/mint-state-store.ts';
import { findHolder, type Proving } from './mint-proof.ts';
import type { RequestedMint } from './mint-remedy-store.ts';

/**
 * Takes an accepted mint back, so that nobody has asked for it: of an NFT that is queued or failed, is in no open
 * transaction, and whose token has no owner, neither at the newest block nor at the newest final one. At an address without a
 * contract of NFTs, no event may show its mint.
 * @returns why it was not taken back, in words; undefined when it was
 * @throws when no node answers: then nothing has changed
 */
export async function cancelMint(proving: Proving, mint: RequestedMint): Promise<string | undefined> {
  const { contract, nftId, tokenId } = mint;
  const owner = await findHolder(proving, mint);
  if (owner !== undefined) {
    const next =
      mint.state === 'failed'
        ? `See whose it is: tallystick mint retry ${nftId}`
        : 'Its lane finds out whose it is: wait until the NFT is minted or has failed.';
    return `Token ${tokenId} of ${contract} has an owner, ${owner}, so it was minted. ${next}`;
  }
  const isCancelled = await inTransaction(proving.db, async (tx) => {
    const cancelled = await cancelNft(tx, nftId);
    if (!cancelled) return false;
    await deleteMintNotes(tx, [nftId]);
    await proving.onChange(tx, { state: 'unclaimed' });
    return true;
  });
  return isCancelled ? undefined : stillInTransaction(nftId);
}

export const stillInTransaction = (nftId: string): string =>
  `NFT ${nftId} is in a transaction that may still be mined. See: tallystick mint show ${nftId}`;
