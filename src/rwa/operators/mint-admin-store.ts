import type { Database } from '../../contract/transaction.ts';
import { type LaneFilter, type LaneStatus, laneBindings, listLanes } from '../minting/lane-status-store.ts';
import { mintChannel } from '../minting/mint-queue.ts';
import { requeueFailedNft } from '../minting/mint-state-store.ts';

/*
 * Minting as operators see and control it: over all companies.
 */

/** An NFT whose mint is requested and not done. */
type MintStatus = {
  readonly nftId: string;
  /** Decimal. */
  readonly chainId: string;
  readonly state: string;
  readonly recipient: string | null;
  /** When the NFT last changed. */
  readonly since: Date;
  /** Why it failed, or why it is not sent; null when nothing is known to be wrong. */
  readonly why: string | null;
};

type MintFilter = {
  readonly states: readonly string[];
  /** Without it, NFTs on all networks. */
  readonly chainId: string | undefined;
  readonly limit: number;
};

/**
 * Stops lanes from sending, or lets them continue. Transactions in flight are watched in both cases.
 * @returns the lanes of the filter after the change
 */
export async function stopLanes(db: Database, filter: LaneFilter, stopped: boolean): Promise<LaneStatus[]> {
  await db.raw(
    `WITH changed AS (
       UPDATE mint_lanes SET stopped_by_operator = :stopped
       WHERE (:chainId::bigint IS NULL OR chain_id = :chainId) AND (:signer::text IS NULL OR signer = :signer))
     SELECT pg_notify('${mintChannel}', '')`,
    { ...laneBindings(filter), stopped },
  );
  return listLanes(db, filter);
}

/** Lists NFTs in these mint states, the longest unchanged first. */
export async function listMints(db: Database, { states, chainId, limit }: MintFilter): Promise<MintStatus[]> {
  const { rows } = await db.raw(
    `SELECT n.id AS "nftId", n.mint_chain_id AS "chainId", n.mint_state AS state, n.recipient,
       n.updated_at AS since, coalesce(n.mint_error, (
         SELECT pause_detail FROM mint_lanes l WHERE n.mint_state = 'queued' AND l.chain_id = n.mint_chain_id
           AND l.pause_detail IS NOT NULL LIMIT 1)) AS why
     FROM nfts n
     WHERE n.mint_state = ANY (:states::text[]) AND (:chainId::bigint IS NULL OR n.mint_chain_id = :chainId)
     ORDER BY n.updated_at, n.id LIMIT :limit`,
    { states: [...states], chainId: chainId ?? null, limit },
  );
  return rows;
}

/** Lists every attempt of every transaction of an NFT, the latest first. */
export async function listAttempts(db: Database, nftId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await db.raw(
    `SELECT t.nonce, t.state, a.number AS attempt, a.hash, a.max_fee_per_gas AS "maxFeePerGas",
       a.sent_at_block AS "sentAtBlock", a.created_at AS "createdAt", t.signer, t.block_number AS "minedBlock",
       t.mined_hash = a.hash AS mined
     FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id
     JOIN mint_attempts a ON a.transaction_id = t.id
     WHERE l.nft_id = ? ORDER BY t.created_at DESC, a.number DESC`,
    [nftId],
  );
  return rows;
}

/** Queues a failed NFT again, for the same recipient. @returns false when no failed NFT has this id */
export function retryMint(db: Database, nftId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const queued = await requeueFailedNft(tx, nftId);
    if (queued) await tx.raw(`SELECT pg_notify('${mintChannel}', '')`);
    return queued;
  });
}
