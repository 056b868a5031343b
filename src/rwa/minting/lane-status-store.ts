import type { Database } from '../../contract/transaction.ts';
import { isStaffedSql, laneReasonSql } from '../assets/reason-sql.ts';
import { type MintReason, needsHelp } from './mint-reason.ts';

/** A lane, its worker and its pending work. */
export type LaneStatus = {
  readonly chainId: string;
  readonly signer: string;
  /** Host and id of the process that owns the lane; null when none does. */
  readonly holder: string | null;
  /** NFTs queued on the network, for any of its lanes; the most that are counted for so many and more. */
  readonly queued: number;
  /** Signed transactions that are not confirmed yet. */
  readonly inFlight: number;
  readonly oldestQueuedAt: Date | null;
  /** The reason why the lane does not send; null when it does. */
  readonly paused: MintReason | null;
  readonly pausedAt: Date | null;
  /** The reason in words. */
  readonly why: string | null;
};

/** Selects lanes; a field that is absent selects all. */
export type LaneFilter = { readonly chainId?: string | undefined; readonly signer?: string | undefined };

/** Every scrape of a worker's metrics counts what is queued; this many take a fifth of a second. */
export const mostCounted = 1_000_000;

const laneStatus = `
  WITH queues AS MATERIALIZED (
    SELECT l.chain_id, (SELECT min(queued_at) FROM nfts WHERE mint_chain_id = l.chain_id AND mint_state = 'queued') AS oldest,
      (SELECT count(*)::int FROM (SELECT FROM nfts
        WHERE mint_chain_id = l.chain_id AND mint_state = 'queued' LIMIT :most) q) AS queued
    FROM (SELECT DISTINCT chain_id FROM mint_lanes WHERE :chainId::bigint IS NULL OR chain_id = :chainId) l)
  SELECT l.chain_id AS "chainId", l.signer,
    CASE WHEN l.expires_at > clock_timestamp() THEN l.holder END AS holder,
    q.queued,
    (SELECT count(*)::int FROM mint_transactions t
     WHERE t.chain_id = l.chain_id AND t.signer = l.signer AND t.state = 'submitted') AS "inFlight",
    q.oldest AS "oldestQueuedAt",
    ${laneReasonSql('l')} AS paused, l.paused_at AS "pausedAt", l.pause_detail AS why
  FROM mint_lanes l JOIN queues q ON q.chain_id = l.chain_id
  WHERE (:chainId::bigint IS NULL OR l.chain_id = :chainId) AND (:signer::text IS NULL OR l.signer = :signer)
  ORDER BY l.chain_id, l.signer`;

/** The filter as named bindings of a statement: `chainId` and `signer`, null where absent. */
export const laneBindings = ({ chainId, signer }: LaneFilter) => ({
  chainId: chainId ?? null,
  signer: signer ?? null,
});

/**
 * Lists lanes in the order of network and signer.
 * @param most NFTs that are counted in a queue; with 0 only a few rows are read, however long it is
 */
export async function listLanes(
  db: Database,
  filter: LaneFilter,
  most: number = mostCounted,
): Promise<LaneStatus[]> {
  return (await db.raw(laneStatus, { ...laneBindings(filter), most })).rows;
}

/**
 * Whether a process that can sign for the network has worked on one of its lanes in the last 10 minutes. A network
 * whose signers were all taken out of the settings is not staffed. Transactions that were sent on it are still watched.
 */
export async function isNetworkStaffed(db: Database, chainId: string): Promise<boolean> {
  const { rows } = await db.raw(
    `SELECT FROM mint_lanes l WHERE l.chain_id = ? AND ${isStaffedSql('l')} LIMIT 1`,
    [chainId],
  );
  return rows.length > 0;
}

type Standing = {
  chain_id: string;
  signer: string;
  reason: string | null;
  detail: string | null;
  hasWork: boolean;
};

/** Lanes with work that somebody must do something about, with their reasons, and whether no other lane works. */
type StandingLanes = { readonly message?: string; readonly isAll: boolean };

/** Finds the lanes with work that pause for a reason that somebody must do something about. */
export async function findStanding(db: Database): Promise<StandingLanes> {
  const { rows }: { rows: Standing[] } = await db.raw(
    `SELECT l.chain_id, l.signer, ${laneReasonSql('l')} AS reason, l.pause_detail AS detail,
       EXISTS (SELECT FROM nfts n WHERE n.mint_chain_id = l.chain_id AND n.mint_state = 'queued')
         OR coalesce(l.pause_reason IN ('finality_unknown', 'chain_rolled_back'), false)
         OR EXISTS (SELECT FROM mint_transactions t
           WHERE t.chain_id = l.chain_id AND t.signer = l.signer AND t.state = 'submitted') AS "hasWork"
     FROM mint_lanes l ORDER BY l.chain_id, l.signer`,
  );
  const working = rows.filter(({ reason }) => reason === null || !needsHelp(reason));
  const standing = rows.filter((lane) => lane.hasWork && !working.includes(lane));
  if (standing.length === 0) return { isAll: false };
  const lanes = standing.map(
    ({ chain_id: chainId, signer, reason, detail }) =>
      `${signer} on network ${chainId}: ${reason}${detail === null ? '' : ` (${detail})`}`,
  );
  return { message: `Minting stands. ${lanes.join('; ')}`, isAll: working.length === 0 };
}
