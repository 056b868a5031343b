import type { Tx } from '../contract/transaction.ts';
import { isLockedSql } from './secret-attempt-store.ts';

/*
 * Every change of an NFT's state on its way to the chain; nothing else writes `mint_state`.
 *
 *   unclaimed, failed ── queueNft ──► queued ── submitNfts ──► submitted ── mintNfts ──► minted
 *                                        ▲                         │  ▲                     │
 *                                        └────── releaseNfts ──────┤  └──── unmintNfts ─────┘
 *                                                                  └─ failNfts ──► failed
 *
 * Each gives the ids that it changed, so that a row that is elsewhere meanwhile is noticed.
 */

/** Accepts a mint. @returns false when the NFT is not to be had: under way, minted, or its secret is locked */
export async function queueNft(
  tx: Tx,
  nft: { id: string; chainId: string; recipient: string; data?: object | undefined },
): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts n SET mint_state = 'queued', recipient = :recipient, mint_error = NULL,
       mint_chain_id = :chainId, queued_at = clock_timestamp(), data = coalesce(:data::jsonb, data)
     WHERE id = :id AND mint_state IN ('unclaimed', 'failed') AND NOT ${isLockedSql}`,
    { ...nft, data: nft.data === undefined ? null : JSON.stringify(nft.data) },
  );
  return rowCount === 1;
}
