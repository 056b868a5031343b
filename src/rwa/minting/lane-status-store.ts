import type { Database } from '../../contract/transaction.ts';

/** A lane, who works on it and what is pending. */
export type LaneStatus = {
  readonly chainId: string;
  readonly signer: string;
  /** Host and id of the process that holds the lane; null when none does. */
  readonly holder: string | null;
  /** NFTs queued on the network, for any of its lanes. */
  readonly queued: number;
  /** Signed transactions that are not confirmed yet. */
  readonly inFlight: number;
  readonly oldestQueuedAt: Date | null;
  /** The reason why the lane does not send; null when it does. */
  readonly paused: string | null;
  /** The reason in words. */
  readonly why: string | null;
};

/** Selects lanes; a field that is absent selects all. */
export type LaneFilter = { readonly chainId?: string | undefined; readonly signer?: string | undefined };

const laneStatus = `
  SELECT l.chain_id AS "chainId", l.signer,
    CASE WHEN l.expires_at > clock_timestamp() THEN l.holder END AS holder,
    (SELECT count(*)::int FROM nfts WHERE mint_chain_id = l.chain_id AND mint_state = 'queued') AS queued,
    (SELECT count(*)::int FROM mint_transactions t
     WHERE t.chain_id = l.chain_id AND t.signer = l.signer AND t.state = 'submitted') AS "inFlight",
    (SELECT min(queued_at) FROM nfts WHERE mint_chain_id = l.chain_id AND mint_state = 'queued') AS "oldestQueuedAt",
    CASE WHEN l.stopped_by_operator THEN 'operator' ELSE l.pause_reason END AS paused, l.pause_detail AS why
  FROM mint_lanes l
  WHERE (:chainId::bigint IS NULL OR l.chain_id = :chainId) AND (:signer::text IS NULL OR l.signer = :signer)
  ORDER BY l.chain_id, l.signer`;

/** The filter as named bindings of a statement: `chainId` and `signer`, null where absent. */
export const laneBindings = ({ chainId, signer }: LaneFilter) => ({
  chainId: chainId ?? null,
  signer: signer ?? null,
});

/** Lists lanes in the order of network and signer. */
export async function listLanes(db: Database, filter: LaneFilter): Promise<LaneStatus[]> {
  return (await db.raw(laneStatus, laneBindings(filter))).rows;
}
