import type { Database } from '../../contract/transaction.ts';
import { type LaneFilter, type LaneStatus, laneBindings, listLanes } from '../minting/lane-status-store.ts';
import { requeueFailedNft } from '../minting/mint-state-store.ts';

/*
 * Minting as operators see and steer it: over all companies.
 */

/** An NFT on its way to the chain, or stuck on it. */
type MintStatus = {
  readonly nftId: string;
  readonly chainId: string;
  readonly state: string;
  readonly recipient: string | null;
  readonly since: Date;
  readonly why: string | null;
};

/** Stops lanes from sending, or lets them go on. What is in flight is watched all the same. */
export async function stopLanes(db: Database, filter: LaneFilter, stopped: boolean): Promise<LaneStatus[]> {
  await db.raw(
    `WITH changed AS (
       UPDATE mint_lanes SET stopped_by_operator = :stopped
       WHERE (:chainId::bigint IS NULL OR chain_id = :chainId) AND (:signer::text IS NULL OR signer = :signer))
     SELECT pg_notify('tallystick_mint', '')`,
    { ...laneBindings(filter), stopped },
  );
  return listLanes(db, filter);
}

/** NFTs that are queued, submitted or failed, the longest unchanged first. */
export async function listMints(
  db: Database,
  { states, chainId, limit }: { states: readonly string[]; chainId: string | undefined; limit: number },
): Promise<MintStatus[]> {
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

/** Everything that was sent for an NFT, the last attempt first. */
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

/** Queues a failed NFT again, for the same recipient. @returns false when there is no such failed NFT */
export function retryMint(db: Database, nftId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const queued = await requeueFailedNft(tx, nftId);
    if (queued) await tx.raw("SELECT pg_notify('tallystick_mint', '')");
    return queued;
  });
}
