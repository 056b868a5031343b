import type { Tx } from '../../../contract/transaction.ts';
import { countFailedAttempts, listLeftOut } from '../stores/transaction-nft-store.ts';
import type { Outcomes } from './outcomes.ts';

// The first failure may have a cause that passes, such as a role that was revoked and granted again.
export const maxFailedAttempts = 2;

/**
 * Fails NFTs instead of releasing them when this is their last failed attempt. Those that the mined form of their
 * transaction left out have not been tried.
 * @param reason why these NFTs fail, in words
 */
export async function applyRetryLimit(tx: Tx, outcomes: Outcomes, reason: string): Promise<Outcomes> {
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
