import type { Tx } from '../../contract/transaction.ts';
import { failNfts, mintNfts, releaseNfts, unmintNfts } from '../minting/mint-state-store.ts';

/** Where a token came into being. */
export type MintedIn = {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly time: Date;
};

/** What became of the NFTs of a transaction. */
export type Outcomes = {
  readonly minted: readonly { readonly nftId: string; readonly in: MintedIn }[];
  readonly failed: readonly { readonly nftId: string; readonly reason: string }[];
  /** To be sent again with another nonce, since it is proven that they are not minted. */
  readonly released: readonly string[];
};

/** The transaction is deep enough for these of its NFTs to count as minted. @returns as {@link mintNfts} */
export async function confirmTransaction(
  tx: Tx,
  id: string,
  own: MintedIn,
  outcomes: Outcomes,
): Promise<number[]> {
  const elsewhere = outcomes.minted.filter((mint) => mint.in.hash !== own.hash);
  await setState(tx, id, 'confirmed', own);
  await tx.raw(
    `UPDATE mint_transaction_nfts l SET found_tx = f.hash, found_block = f.block, found_block_hash = f.block_hash
     FROM unnest(?::uuid[], ?::text[], ?::numeric[], ?::text[]) AS f (nft_id, hash, block, block_hash)
     WHERE l.transaction_id = ? AND l.nft_id = f.nft_id`,
    [
      elsewhere.map(({ nftId }) => nftId),
      elsewhere.map((mint) => mint.in.hash),
      elsewhere.map((mint) => mint.in.blockNumber.toString()),
      elsewhere.map((mint) => mint.in.blockHash),
      id,
    ],
  );
  return mintNfts(tx, outcomes.minted);
}

/** A reorganisation took the transaction out of the chain: its NFTs are on their way again. */
export async function unconfirmTransaction(tx: Tx, id: string): Promise<number> {
  await setState(tx, id, 'submitted', undefined);
  const { rows }: { rows: { nft_id: string }[] } = await tx.raw(
    `UPDATE mint_transaction_nfts SET found_tx = NULL, found_block = NULL, found_block_hash = NULL
     WHERE transaction_id = ? AND state = 'open' RETURNING nft_id`,
    [id],
  );
  return unmintNfts(
    tx,
    rows.map((row) => row.nft_id),
  );
}

/**
 * Nothing can take the transaction back any more; these are the ends of NFTs that it did not mint.
 * @returns as {@link mintNfts}
 */
export async function finalizeTransaction(tx: Tx, id: string, outcomes: Outcomes): Promise<number[]> {
  const waits = await endItems(tx, id, outcomes);
  await tx.raw(`UPDATE mint_transactions SET state = 'finalized', updated_at = now() WHERE id = ?`, [id]);
  await tx.raw(
    `UPDATE mint_transaction_nfts SET state = 'minted' WHERE transaction_id = ? AND state = 'open'`,
    [id],
  );
  return waits;
}

/**
 * The transaction minted nothing and never will: its nonce went to another (`lost`), or it was reverted.
 * @returns as {@link mintNfts}
 */
export async function endTransaction(
  tx: Tx,
  id: string,
  end: { readonly state: 'lost' } | { readonly state: 'reverted'; readonly in: MintedIn },
  outcomes: Outcomes,
): Promise<number[]> {
  await setState(tx, id, end.state, end.state === 'reverted' ? end.in : undefined);
  return endItems(tx, id, outcomes);
}

async function endItems(tx: Tx, id: string, { minted, failed, released }: Outcomes): Promise<number[]> {
  const mintedIds = minted.map(({ nftId }) => nftId);
  const failedIds = failed.map(({ nftId }) => nftId);
  await closeItems(tx, id, 'minted', mintedIds);
  await closeItems(tx, id, 'failed', failedIds);
  await closeItems(tx, id, 'released', released);
  const waits = await mintNfts(tx, minted);
  await failNfts(tx, failed);
  await releaseNfts(tx, released);
  return waits;
}

/** How often each NFT was in a transaction that has a block and did not mint it, since it was accepted. */
export async function vainTriesOf(tx: Tx, nftIds: readonly string[]): Promise<Map<string, number>> {
  if (nftIds.length === 0) return new Map();
  const { rows }: { rows: { nft_id: string; count: string }[] } = await tx.raw(
    `SELECT l.nft_id, count(*) FROM mint_transaction_nfts l
       JOIN mint_transactions t ON t.id = l.transaction_id JOIN nfts n ON n.id = l.nft_id
     WHERE l.nft_id = ANY (?::uuid[]) AND l.state = 'released' AND t.state IN ('reverted', 'finalized')
       AND t.created_at > n.queued_at GROUP BY l.nft_id`,
    [[...nftIds]],
  );
  return new Map(rows.map((row) => [row.nft_id, Number(row.count)]));
}

async function setState(tx: Tx, id: string, state: string, mined: MintedIn | undefined): Promise<void> {
  await tx('mint_transactions')
    .where({ id })
    .update({
      state,
      mined_hash: mined?.hash ?? null,
      block_number: mined?.blockNumber.toString() ?? null,
      block_hash: mined?.blockHash ?? null,
      updated_at: tx.fn.now(),
    });
}

async function closeItems(tx: Tx, id: string, state: string, nftIds: readonly string[]): Promise<void> {
  if (nftIds.length === 0) return;
  await tx.raw(
    'UPDATE mint_transaction_nfts SET state = ? WHERE transaction_id = ? AND nft_id = ANY (?::uuid[])',
    [state, id, [...nftIds]],
  );
}
