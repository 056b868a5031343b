import type { Database, Tx } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { stateOfRow } from '../../assets/mint-state-sql.ts';
import { firstBlockSql } from '../../assets/token-id.ts';
import { mintChannel } from '../../minting/accept/mint-queue.ts';

/*
 * What a remedy needs to know of a mint, and what it leaves for a lane to do.
 */

/** A mint that is under way or has failed. */
export type RequestedMint = {
  readonly nftId: string;
  readonly state: 'queued' | 'submitted' | 'failed';
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly contract: string;
  /** Decimal. In a transaction that may mint an older token of the NFT, the older token. */
  readonly tokenId: string;
  /** Whether that is an older token. */
  readonly isReplaced: boolean;
  /** EIP-55; null where the row has none. */
  readonly recipient: string | null;
  readonly createdAt: Date;
  /** The first block in which a mint of its RWA can be; 0 where no block is known. */
  readonly firstBlock: bigint;
  /** Whether its RWA is archived: a failed NFT is then not queued again. */
  readonly isArchived: boolean;
  /** The transaction in which its outcome is open. */
  readonly transaction: OpenTransaction | null;
};

type OpenTransaction = {
  readonly id: string;
  /** EIP-55. */
  readonly signer: string;
  /** Decimal. */
  readonly nonce: string;
  /** `submitted` and `confirmed` may change; the others have ended. */
  readonly state: 'submitted' | 'confirmed' | 'finalized' | 'reverted' | 'lost';
  /** Of all attempts. */
  readonly hashes: readonly string[];
};

type Row = Omit<RequestedMint, 'firstBlock'> & { readonly firstBlock: string };

const requestedMint = `
  SELECT n.id AS "nftId", n.mint_state AS state, r.chain_id AS "chainId", r.contract_address AS contract,
    coalesce(l.token_id, n.token_id) AS "tokenId", coalesce(l.token_id <> n.token_id, false) AS "isReplaced", n.recipient, n.created_at AS "createdAt",
    ${firstBlockSql('r')} AS "firstBlock",
    r.archived_at IS NOT NULL AS "isArchived",
    CASE WHEN t.id IS NOT NULL THEN json_build_object('id', t.id, 'signer', t.signer, 'nonce', t.nonce::text,
      'state', t.state, 'hashes', (SELECT json_agg(a.hash) FROM mint_attempts a WHERE a.transaction_id = t.id)) END AS transaction
  FROM nfts n JOIN rwas r ON r.id = n.rwa_id
    LEFT JOIN mint_transaction_nfts l ON l.nft_id = n.id AND l.state = 'open' LEFT JOIN mint_transactions t ON t.id = l.transaction_id
  WHERE n.id = ? AND ${stateOfRow('n')} IN ('queued', 'submitted', 'failed')`;

/** @returns undefined when the NFT has no mint under way or failed, or does not exist */
export async function findRequestedMint(db: Database, nftId: string): Promise<RequestedMint | undefined> {
  const { rows }: { rows: Row[] } = await db.raw(requestedMint, [nftId]);
  return rows.map((row) => ({ ...row, firstBlock: BigInt(row.firstBlock) }))[0];
}

/** Whether the transaction in which the outcome of a mint is open can still be mined or taken back. */
export const isInFlight = ({ transaction }: RequestedMint): boolean =>
  transaction !== null && ['submitted', 'confirmed'].includes(transaction.state);

/** Lets lanes poll at once. */
export async function wakeLanes(tx: Tx): Promise<void> {
  await tx.raw(`SELECT pg_notify('${mintChannel}', '')`);
}

/**
 * Asks the lane of a transaction to sign it again without an NFT.
 * @param onAsked runs in the same transaction
 * @returns false when it is in flight no more
 */
export function askOut(
  db: Database,
  { nftId, transactionId }: { readonly nftId: string; readonly transactionId: string },
  onAsked: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rowCount }: { rowCount: number } = await tx.raw(
      `UPDATE mint_transaction_nfts l SET asked_out = true FROM mint_transactions t
       WHERE l.nft_id = ? AND l.transaction_id = ? AND l.state = 'open' AND t.id = l.transaction_id
         AND t.state = 'submitted'`,
      [nftId, transactionId],
    );
    if (rowCount !== 1) return false;
    await wakeLanes(tx);
    await onAsked(tx);
    return true;
  });
}

/** Ends an NFT's part in a transaction that has ended. @returns false when it has ended already */
export async function closeReleased(tx: Tx, nftId: string, transactionId: string): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE mint_transaction_nfts l SET state = 'released' FROM mint_transactions t
     WHERE l.nft_id = ? AND l.transaction_id = ? AND l.state = 'open' AND t.id = l.transaction_id
       AND t.state IN ('finalized', 'reverted', 'lost')`,
    [nftId, transactionId],
  );
  return rowCount === 1;
}

/**
 * Asks a lane to use a nonce.
 * @param onAsked runs in the same transaction
 * @returns false when there is no such lane
 */
export function askFill(
  db: Database,
  { chainId, signer }: { readonly chainId: string; readonly signer: string },
  nonce: bigint,
  onAsked: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rowCount }: { rowCount: number } = await tx.raw(
      'UPDATE mint_lanes SET fill_nonce = ? WHERE chain_id = ? AND signer = ?',
      [nonce.toString(), chainId, signer],
    );
    if (rowCount !== 1) return false;
    await wakeLanes(tx);
    await onAsked(tx);
    return true;
  });
}

type Nonces = {
  /** Whether the lane has stored a transaction of the nonce. */
  readonly isStored: boolean;
  /** Whether that is in flight and mints nothing. */
  readonly isFilling: boolean;
  /** Whether it has one in flight above it. */
  readonly isWaitedFor: boolean;
};

/** What a lane has stored at and above a nonce. */
export async function findNonces(
  db: Database,
  { chainId, signer }: { readonly chainId: string; readonly signer: string },
  nonce: bigint,
): Promise<Nonces> {
  const { rows }: { rows: Nonces[] } = await db.raw(
    `SELECT coalesce(bool_or(nonce = :nonce), false) AS "isStored",
       coalesce(bool_or(nonce = :nonce AND contract = signer AND state = 'submitted'), false) AS "isFilling",
       coalesce(bool_or(nonce > :nonce AND state = 'submitted'), false) AS "isWaitedFor"
     FROM mint_transactions WHERE chain_id = :chainId AND signer = :signer AND nonce >= :nonce`,
    { chainId, signer, nonce: nonce.toString() },
  );
  return rows[0] ?? { isStored: false, isFilling: false, isWaitedFor: false };
}
