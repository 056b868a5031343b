import type { Database } from '../../../contract/transaction.ts';
import { nftReasonSql } from '../../assets/reason-sql.ts';
import { mintChannel } from '../../minting/accept/mint-queue.ts';
import {
  type LaneFilter,
  type LaneStatus,
  laneBindings,
  listLanes,
} from '../../minting/lane-status-store.ts';
import { type MintReason, remedyOf } from '../../minting/mint-reason.ts';

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
  /** Since when the NFT is queued; otherwise when it last changed. */
  readonly since: Date;
  /** Why it does not move, as a code; null when it does, or has failed. */
  readonly reason: MintReason | null;
  /** The reason in words, or why it failed; null when nothing is known to be wrong. */
  readonly why: string | null;
  /** Since when the reason applies. */
  readonly reasonSince: Date | null;
  /** What an operator can do about it. */
  readonly remedy: string | null;
};

/** The mints that are on their way to the chain, or stuck there. */
export const statesUnderWay = ['queued', 'submitted', 'failed'] as const;
export type StateUnderWay = (typeof statesUnderWay)[number];

type MintFilter = {
  readonly states: readonly StateUnderWay[];
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

/**
 * Has lanes send the next transaction at once to a contract that made transactions fail, in place of in an hour.
 * @returns the networks on which it is such a contract
 */
export async function askProbe(
  db: Database,
  { chainId, contract }: { readonly chainId?: string | undefined; readonly contract: string },
): Promise<string[]> {
  const { rows }: { rows: { chain_id: string }[] } = await db.raw(
    `WITH asked AS (
       UPDATE mint_contracts SET probed_at = NULL
       WHERE (:chainId::bigint IS NULL OR chain_id = :chainId) AND contract = :contract AND failures > 0 RETURNING chain_id)
     SELECT chain_id, pg_notify('${mintChannel}', '') FROM asked ORDER BY chain_id`,
    { chainId: chainId ?? null, contract },
  );
  return rows.map((row) => row.chain_id);
}

const isOfChain = (column: string) => `(:chainId::bigint IS NULL OR ${column} = :chainId)`;
/*
 * Each state is read in the order of an index, as far as the limit: waiting and failed NFTs by network, and NFTs in
 * transactions, which are never many, by company.
 */
const inOrder = {
  queued: `SELECT q.* FROM networks w CROSS JOIN LATERAL (
    SELECT id, queued_at AS since FROM nfts WHERE mint_chain_id = w.chain_id AND mint_state = 'queued'
    ORDER BY queued_at, id LIMIT :limit) q WHERE ${isOfChain('w.chain_id')}`,
  failed: `SELECT f.* FROM networks w CROSS JOIN LATERAL (
    SELECT id, updated_at AS since FROM nfts WHERE mint_chain_id = w.chain_id AND mint_state = 'failed'
    ORDER BY updated_at, id LIMIT :limit) f WHERE ${isOfChain('w.chain_id')}`,
  submitted: `SELECT s.* FROM companies c CROSS JOIN LATERAL (
    SELECT id, updated_at AS since FROM nfts WHERE company_id = c.id AND mint_state = 'submitted'
      AND ${isOfChain('mint_chain_id')}) s`,
};

/** Lists NFTs in these mint states, the longest unchanged first, each with its own reason or the reason of its lanes. */
export async function listMints(db: Database, { states, chainId, limit }: MintFilter): Promise<MintStatus[]> {
  const { rows }: { rows: Omit<MintStatus, 'remedy'>[] } = await db.raw(
    `SELECT f."nftId", f."chainId", f.state, f.recipient, f.since, f.reason,
       coalesce(f.error, m.detail, l.detail, p.pause_detail) AS why, coalesce(m.since, l.since, p.paused_at) AS "reasonSince"
     FROM (
       SELECT n.id AS "nftId", n.mint_chain_id AS "chainId", n.mint_state AS state, n.recipient,
         first.since, n.mint_error AS error, n.mint_contract AS contract, ${nftReasonSql('n')} AS reason
       FROM (SELECT * FROM (${states.map((state) => inOrder[state]).join(' UNION ALL ')}) listed
         ORDER BY since, id LIMIT :limit) first
       JOIN nfts n ON n.id = first.id) f
     LEFT JOIN mint_notes m ON m.nft_id = f."nftId" AND f.reason IS NOT NULL
     LEFT JOIN LATERAL (
       SELECT pause_detail AS detail, paused_at AS since FROM mint_lanes
       WHERE m.nft_id IS NULL AND chain_id = f."chainId" AND pause_reason = f.reason
       ORDER BY paused_at LIMIT 1) l ON true
     LEFT JOIN mint_contracts p ON p.chain_id = f."chainId" AND p.contract = f.contract AND p.pause_reason = f.reason
     ORDER BY f.since, f."nftId"`,
    { chainId: chainId ?? null, limit },
  );
  return rows.map((row) => ({
    ...row,
    remedy: row.reason === null ? ofFailed(row.state) : remedyOf(row.reason),
  }));
}

const ofFailed = (state: string) =>
  state === 'failed'
    ? 'Mend what it says, then queue it again: tallystick mint retry <nftId>; or take it back: tallystick mint cancel <nftId>.'
    : null;

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
