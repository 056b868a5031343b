import type { Mint } from '../../../chain/minting/mint-contract.ts';
import type { Database, Tx } from '../../../contract/transaction.ts';
import { stateOfRow } from '../../assets/mint-state-sql.ts';
import { firstBlockSql } from '../../assets/token-id.ts';
import type { MintReason } from '../../minting/mint-reason.ts';
import type { Inclusion } from './transaction-store.ts';

/*
 * Table `mint_transaction_nfts`: the NFTs of a transaction. A row is `open` until the outcome of its NFT in this
 * transaction is final.
 */

/** An NFT in a transaction. */
export type TransactionNft = Mint & {
  readonly nftId: string;
  /** It counts as minted where its transaction has it: in the block of this one, or of an earlier mint. */
  readonly isMinted: boolean;
  /** When its row was created. */
  readonly createdAt: Date;
  /** The first block in which a mint of its RWA can be; 0 where no block is known. */
  readonly firstBlock: bigint;
  /** An operator has asked to mint it by another transaction. */
  readonly isAskedOut: boolean;
  /** The mined form of the transaction leaves it out. */
  readonly isLeftOut: boolean;
  /** It has another token now. */
  readonly isReplaced: boolean;
  /** It had ended before its transaction was in flight again. */
  readonly hasEnded: boolean;
  /** Why it does not move; null when no reason is stored. */
  readonly note: { readonly reason: MintReason; readonly detail: string } | null;
};

// Where its row was locked, an NFT may still have the block that a reorganisation has replaced.
const isMintedHere = `${stateOfRow('n')} = 'minted' AND coalesce(n.minted_tx = coalesce(l.found_tx, t.mined_hash)
  AND n.minted_block = coalesce(l.found_block, t.block_number), false)`;

type Row = Omit<TransactionNft, 'firstBlock'> & { readonly firstBlock: string };

/** Lists the NFTs of a transaction whose outcome is not final. */
export async function listOpenNfts(db: Database, transactionId: string): Promise<TransactionNft[]> {
  const { rows }: { rows: Row[] } = await db.raw(
    `SELECT l.nft_id AS "nftId", l.token_id AS "tokenId", n.recipient, ${isMintedHere} AS "isMinted",
       n.created_at AS "createdAt", l.asked_out AS "isAskedOut", l.left_out AS "isLeftOut", l.token_id <> n.token_id AS "isReplaced", l.ended_as IS NOT NULL AS "hasEnded",
       ${firstBlockSql('r')} AS "firstBlock",
       CASE WHEN m.nft_id IS NOT NULL THEN json_build_object('reason', m.reason, 'detail', m.detail) END AS note
     FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id
       JOIN nfts n ON n.id = l.nft_id JOIN rwas r ON r.id = n.rwa_id
       LEFT JOIN mint_notes m ON m.nft_id = l.nft_id
     WHERE l.transaction_id = ? AND l.state = 'open'`,
    [transactionId],
  );
  return rows.map((row) => ({ ...row, firstBlock: BigInt(row.firstBlock) }));
}

/** Inserts the NFTs of a new transaction, all open. */
export async function insertTransactionNfts(
  tx: Tx,
  transactionId: string,
  nfts: readonly (Mint & { readonly nftId: string })[],
): Promise<void> {
  await tx.raw(
    `INSERT INTO mint_transaction_nfts (transaction_id, nft_id, token_id, recipient)
     SELECT ?, * FROM unnest(?::uuid[], ?::numeric[], ?::text[])`,
    [
      transactionId,
      nfts.map(({ nftId }) => nftId),
      nfts.map(({ tokenId }) => tokenId),
      nfts.map(({ recipient }) => recipient),
    ],
  );
}

/** Stores where NFTs of the transaction were minted before it, by other transactions. */
export async function setEarlierMints(
  tx: Tx,
  transactionId: string,
  mints: readonly { readonly nftId: string; readonly in: Inclusion }[],
): Promise<void> {
  await tx.raw(
    `UPDATE mint_transaction_nfts l SET found_tx = f.hash, found_block = f.block, found_block_hash = f.block_hash
     FROM unnest(?::uuid[], ?::text[], ?::numeric[], ?::text[]) AS f (nft_id, hash, block, block_hash)
     WHERE l.transaction_id = ? AND l.nft_id = f.nft_id`,
    [
      mints.map(({ nftId }) => nftId),
      mints.map((mint) => mint.in.hash),
      mints.map((mint) => mint.in.blockNumber.toString()),
      mints.map((mint) => mint.in.blockHash),
      transactionId,
    ],
  );
}

/** Forgets the earlier mints of all open NFTs of the transaction. @returns the ids of the open NFTs */
export async function clearEarlierMints(tx: Tx, transactionId: string): Promise<string[]> {
  const { rows }: { rows: { nft_id: string }[] } = await tx.raw(
    `UPDATE mint_transaction_nfts SET found_tx = NULL, found_block = NULL, found_block_hash = NULL
     WHERE transaction_id = ? AND state = 'open' RETURNING nft_id`,
    [transactionId],
  );
  return rows.map((row) => row.nft_id);
}

/** Sets which open NFTs of the transaction its mined form leaves out: all but these tokens. */
export async function setLeftOut(
  tx: Tx,
  transactionId: string,
  minedTokenIds: readonly string[],
): Promise<void> {
  await tx.raw(
    `UPDATE mint_transaction_nfts SET left_out = token_id <> ALL (?::numeric[])
     WHERE transaction_id = ? AND state = 'open'`,
    [[...minedTokenIds], transactionId],
  );
}

/** Sets the final outcome of NFTs in the transaction. */
export async function closeNfts(
  tx: Tx,
  transactionId: string,
  state: 'minted' | 'failed' | 'released',
  nftIds: readonly string[],
): Promise<void> {
  if (nftIds.length === 0) return;
  await tx.raw(
    'UPDATE mint_transaction_nfts SET state = ? WHERE transaction_id = ? AND nft_id = ANY (?::uuid[])',
    [state, transactionId, [...nftIds]],
  );
}

/** Sets the outcome of the NFTs of the transaction that are open and count as minted to `minted`. */
export async function closeMintedNfts(tx: Tx, transactionId: string): Promise<void> {
  await tx.raw(
    `UPDATE mint_transaction_nfts l SET state = 'minted' FROM nfts n, mint_transactions t
     WHERE l.transaction_id = ? AND t.id = l.transaction_id AND l.state = 'open' AND n.id = l.nft_id AND ${isMintedHere}`,
    [transactionId],
  );
}

/** Whether the mined form of the transaction `t` tried the NFT of the link `l` alone, and had enough gas: others cannot be to blame. */
const isAttempt = (l: string, t: string) => `NOT ${l}.left_out AND NOT ${t}.out_of_gas AND NOT EXISTS (
  SELECT FROM mint_transaction_nfts o WHERE o.transaction_id = ${t}.id AND o.nft_id <> ${l}.nft_id AND NOT o.left_out)`;

/**
 * Lists those of the NFTs that the mined form of this transaction tried alone, and that so many others before it tried alone
 * and did not mint, since their mint was last accepted: earlier ones have failed with the mint before.
 */
export async function listExhausted(
  tx: Tx,
  transactionId: string,
  nftIds: readonly string[],
  attemptsBefore: number,
): Promise<string[]> {
  const { rows }: { rows: { nft_id: string }[] } = await tx.raw(
    `SELECT l.nft_id FROM mint_transaction_nfts l
       JOIN mint_transactions t ON t.id = l.transaction_id
     WHERE l.transaction_id = :transactionId AND l.nft_id = ANY (:nftIds::uuid[]) AND ${isAttempt('l', 't')}
       AND :attemptsBefore <= (
         SELECT count(*) FROM mint_transaction_nfts b JOIN mint_transactions p ON p.id = b.transaction_id
         WHERE b.nft_id = l.nft_id AND b.state = 'released' AND p.state IN ('reverted', 'finalized')
           AND ${isAttempt('b', 'p')})`,
    { transactionId, nftIds: [...nftIds], attemptsBefore },
  );
  return rows.map((row) => row.nft_id);
}

/**
 * Finds for each NFT with how many others it may be tried again at most, itself included: half of those with which it
 * failed, so that one that makes others fail is found; alone where others of its transaction were minted.
 * @returns sizes by NFT id; an NFT that did not fail since its mint was last accepted is absent
 */
export async function findRetrySizes(db: Database, nftIds: readonly string[]): Promise<Map<string, number>> {
  if (nftIds.length === 0) return new Map();
  const { rows }: { rows: { nft_id: string; size: number }[] } = await db.raw(
    `SELECT l.nft_id, min(CASE WHEN o.minted > 0 THEN 1 ELSE greatest(1, o.tried / 2) END) AS size
     FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id
       CROSS JOIN LATERAL (
         SELECT count(*)::int AS tried, count(*) FILTER (WHERE state = 'minted')::int AS minted
         FROM mint_transaction_nfts WHERE transaction_id = t.id AND NOT left_out) o
     WHERE l.nft_id = ANY (?::uuid[]) AND l.state = 'released' AND t.state IN ('reverted', 'finalized')
       AND NOT l.left_out AND NOT t.out_of_gas
     GROUP BY l.nft_id`,
    [[...nftIds]],
  );
  return new Map(rows.map((row) => [row.nft_id, row.size]));
}
