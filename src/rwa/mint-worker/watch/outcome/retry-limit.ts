import { readSigned } from '../../../../chain/minting/signer.ts';
import type { Database, Tx } from '../../../../contract/transaction.ts';
import { readRawAttempt } from '../../stores/attempt-store.ts';
import {
  listExhausted,
  listOpenNfts,
  setLeftOut,
  type TransactionNft,
} from '../../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { Outcomes } from './outcomes.ts';

// The cause of the first failure may be temporary, such as a role that was revoked and granted again.
const maxFailedAttempts = 2;

/**
 * Why an NFT fails whose mined transactions have not minted it. Our contract skips a token only when it has an owner;
 * other contracts may have other reasons.
 */
export const passedOver = (hash: string): string =>
  `The contract passed the mint over ${maxFailedAttempts} times, last in transaction ${hash}.`;

/** Why an NFT fails whose transactions were reverted. */
export const revertedMint = (hash: string): string =>
  `The contract reverted the mint ${maxFailedAttempts} times, last in transaction ${hash}.`;

/**
 * Fails NFTs instead of releasing them when this is their last failed attempt. Only a transaction of one NFT is an attempt:
 * in others any NFT may be to blame.
 * @param reason why these NFTs fail, in words
 */
export async function applyRetryLimit(
  tx: Tx,
  transactionId: string,
  { minted, failed, released }: Outcomes,
  reason: string,
): Promise<Outcomes> {
  const exhausted = await listExhausted(tx, transactionId, released, maxFailedAttempts - 1);
  return {
    minted,
    failed: [...failed, ...exhausted.map((nftId) => ({ nftId, reason }))],
    released: released.filter((nftId) => !exhausted.includes(nftId)),
  };
}

/** Lists the open NFTs of a transaction that its mined attempt tried to mint. */
export async function listTriedNfts(
  db: Database,
  { id, attempts }: OpenTransaction,
  minedHash: string,
): Promise<TransactionNft[]> {
  const nfts = await listOpenNfts(db, id);
  // A single attempt has all of them.
  if (attempts.length === 1) return nfts;
  const { mints } = readSigned(await readRawAttempt(db, minedHash));
  const tried = new Set(mints.map(({ tokenId }) => tokenId));
  return nfts.filter(({ tokenId }) => tried.has(tokenId));
}

/** Stores which NFTs of a transaction its mined attempt left out. */
export async function noteLeftOut(
  tx: Tx,
  { id, attempts }: OpenTransaction,
  minedHash: string,
): Promise<void> {
  if (attempts.length === 1) return;
  const { mints } = readSigned(await readRawAttempt(tx, minedHash));
  const tokenIds = mints.map(({ tokenId }) => tokenId);
  await setLeftOut(tx, id, tokenIds);
}
