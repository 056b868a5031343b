import type { Tx } from '../../../../contract/transaction.ts';
import { countFailedAttempts, isAttempt, listLeftOut } from '../../stores/transaction-nft-store.ts';
import type { Outcomes } from './outcomes.ts';

// The first failure may have a cause that passes, such as a role that was revoked and granted again.
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
  outcomes: Outcomes,
  reason: string,
): Promise<Outcomes> {
  if (!(await isAttempt(tx, transactionId))) return outcomes;
  const failedBefore = await countFailedAttempts(tx, outcomes.released);
  const leftOut = new Set(await listLeftOut(tx, outcomes.released));
  const isExhausted = (nftId: string) =>
    !leftOut.has(nftId) && (failedBefore.get(nftId) ?? 0) + 1 >= maxFailedAttempts;
  const exhausted = outcomes.released.filter(isExhausted).map((nftId) => ({ nftId, reason }));
  return {
    minted: outcomes.minted,
    failed: [...outcomes.failed, ...exhausted],
    released: outcomes.released.filter((nftId) => !isExhausted(nftId)),
  };
}
