import type { Tx } from '../../../../contract/transaction.ts';
import { deleteMintNotes } from '../../../minting/mint-note-store.ts';
import { failNfts, mintNfts, releaseNfts, unmintNfts } from '../../../minting/mint-state-store.ts';
import { makeDueAgain } from '../../stores/refresh-store.ts';
import {
  clearEarlierMints,
  closeMintedNfts,
  closeNfts,
  setEarlierMints,
} from '../../stores/transaction-nft-store.ts';
import {
  type Inclusion,
  setTransactionFinalized,
  setTransactionState,
} from '../../stores/transaction-store.ts';

/** An NFT that is minted, and the transaction that minted it. */
export type MintedNft = { readonly nftId: string; readonly in: Inclusion };

/** An NFT that failed, and why, in words. */
export type FailedNft = { readonly nftId: string; readonly reason: string };

/** What became of the NFTs of a transaction. */
export type Outcomes = {
  readonly minted: readonly MintedNft[];
  readonly failed: readonly FailedNft[];
  /** Ids of NFTs that are proven not to be minted and can be sent again with another nonce. */
  readonly released: readonly string[];
};

/** Marks a transaction as confirmed and its minted NFTs as minted. @returns as {@link mintNfts} */
export async function confirmTransaction(
  tx: Tx,
  id: string,
  inclusion: Inclusion,
  minted: readonly MintedNft[],
): Promise<number[]> {
  const mintedEarlier = minted.filter((mint) => mint.in.hash !== inclusion.hash);
  await setTransactionState(tx, id, 'confirmed', inclusion);
  await setEarlierMints(tx, id, mintedEarlier);
  return mintNfts(tx, minted);
}

/**
 * Marks a confirmed transaction as in flight again, after a reorganisation removed it from the chain.
 * @returns how many NFTs are no longer minted
 */
export async function unconfirmTransaction(tx: Tx, id: string): Promise<number> {
  await setTransactionState(tx, id, 'submitted', undefined);
  const nftIds = await clearEarlierMints(tx, id);
  return unmintNfts(tx, nftIds);
}

/**
 * Marks a confirmed transaction as final.
 * @param outcomes of the NFTs that it did not mint; those that are not among them stay open
 * @returns as {@link mintNfts}
 */
export async function finalizeTransaction(tx: Tx, id: string, outcomes: Outcomes): Promise<number[]> {
  const waits = await applyOutcomes(tx, id, outcomes);
  await setTransactionFinalized(tx, id);
  await closeMintedNfts(tx, id);
  return waits;
}

/** Marks a transaction as reverted, once that is final. @returns as {@link mintNfts} */
export async function endReverted(
  tx: Tx,
  id: string,
  inclusion: Inclusion,
  outcomes: Outcomes,
): Promise<number[]> {
  await setTransactionState(tx, id, 'reverted', inclusion);
  await makeDueAgain(tx, id);
  return applyOutcomes(tx, id, outcomes);
}

/** Marks a transaction as lost: another one used its nonce, and that is final. @returns as {@link mintNfts} */
export async function endLost(tx: Tx, id: string, outcomes: Outcomes): Promise<number[]> {
  await setTransactionState(tx, id, 'lost', undefined);
  await makeDueAgain(tx, id);
  return applyOutcomes(tx, id, outcomes);
}

/** Ends NFTs of a transaction as their outcomes say. @returns as {@link mintNfts} */
export async function applyOutcomes(
  tx: Tx,
  id: string,
  { minted, failed, released }: Outcomes,
): Promise<number[]> {
  const mintedIds = minted.map(({ nftId }) => nftId);
  const failedIds = failed.map(({ nftId }) => nftId);
  await closeNfts(tx, id, 'minted', mintedIds);
  await closeNfts(tx, id, 'failed', failedIds);
  await closeNfts(tx, id, 'released', released);
  await deleteMintNotes(tx, [...mintedIds, ...failedIds, ...released]);
  const waits = await mintNfts(tx, minted);
  await failNfts(tx, failed);
  await releaseNfts(tx, released);
  return waits;
}
