import type { Tx } from '../../../../contract/transaction.ts';
import { deleteMintNotes } from '../../../minting/mint-note-store.ts';
import { failNfts, mintNfts, releaseNfts, unmintNfts } from '../../../minting/mint-state-store.ts';
import { closeNfts } from '../../stores/transaction-nft-store.ts';
import type { Inclusion } from '../../stores/transaction-store.ts';

/** An NFT that is minted, and the transaction that minted it. */
export type MintedNft = { readonly nftId: string; readonly in: Inclusion };

/** An NFT that failed, and why, in words. */
export type FailedNft = { readonly nftId: string; readonly reason: string };

/** What became of the NFTs of a transaction. */
export type Outcomes = {
  readonly minted: readonly MintedNft[];
  readonly failed: readonly FailedNft[];
  /** Ids of NFTs that are proven not to be minted: they can be sent again with another nonce, or are what they were before. */
  readonly released: readonly string[];
};

/** Ends NFTs of a transaction as their outcomes say. @returns as {@link mintNfts} */
export async function applyOutcomes(
  tx: Tx,
  id: string,
  { minted, failed, released }: Outcomes,
): Promise<number[]> {
  const mintedIds = minted.map(({ nftId }) => nftId);
  const failedIds = failed.map(({ nftId }) => nftId);
  // Their tokens are those of the open rows.
  const waits = await mintNfts(tx, minted);
  await closeNfts(tx, id, 'minted', mintedIds);
  await closeNfts(tx, id, 'failed', failedIds);
  await closeNfts(tx, id, 'released', released);
  await deleteMintNotes(tx, [...mintedIds, ...failedIds, ...released]);
  // A row that was locked when a reorganisation removed its mint still says minted.
  await unmintNfts(tx, [...failedIds, ...released]);
  await failNfts(tx, id, failed);
  await releaseNfts(tx, id, released);
  return waits;
}
