import type { Database, Tx } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { createLeaseStore, type HeldLease, heldRow } from '../../../db/leases/lease-store.ts';
import type { MintReason } from '../../minting/mint-reason.ts';

/*
 * Table `mint_lanes`: the lanes, which process owns them, and why they do not send.
 */

/** One signer on one network. */
export type LaneId = {
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly signer: string;
};

/** The right to write to a lane, until another process takes it. */
export type LaneLease = LaneId & HeldLease;

/** Another process owns the lane; the transaction was rolled back. */
export class LeaseLostError extends Error {
  constructor({ chainId, signer }: LaneId) {
    super(`The lane of ${signer} on network ${chainId} is held by another process.`);
    this.name = 'LeaseLostError';
  }
}

/**
 * Why a lane does not send. Transactions in flight are watched all the same, and the lane resumes when the
 * cause is gone.
 */
export type Pause = {
  readonly reason: MintReason;
  /** The reason in words. */
  readonly detail: string;
};

const sameLane = 'chain_id = :chainId AND signer = :signer';
const sameLease = heldRow({ same: sameLane });
const staffedUnless = (watchOnly: string) =>
  `staffed_at = CASE WHEN ${watchOnly} THEN staffed_at ELSE clock_timestamp() END`;

/** Registers a lane. The service accepts mints on its network from then on. */
export async function registerLane(db: Database, lane: LaneId): Promise<void> {
  await db.raw(
    'INSERT INTO mint_lanes (chain_id, signer) VALUES (:chainId, :signer) ON CONFLICT DO NOTHING',
    lane,
  );
}

/** The leases of lanes, which stand in their rows. One without a key watches what is sent, and gives way to one with it. */
export const laneLeases = createLeaseStore<LaneId, { readonly watchOnly: boolean }>({
  name: 'mint_lanes',
  same: sameLane,
  orFree: '(watch_only AND NOT :watchOnly)',
  secondsColumn: 'lease_seconds',
  onTake: `watch_only = :watchOnly, lease_seconds = :seconds, ${staffedUnless(':watchOnly')}`,
  onRenew: staffedUnless('watch_only'),
  onEnd: `holder = NULL, expires_at = NULL, ${staffedUnless('watch_only')}`,
});

/**
 * Runs the work in one transaction that commits only while the lease is valid.
 * @throws LeaseLostError when another process has taken the lane; the work is rolled back then
 */
export function inFencedTransaction<T>(
  db: Database,
  lease: LaneLease,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (tx) => {
    const result = await work(tx);
    // Last, so that the row is locked only briefly. No process can take the lane until the commit.
    const { rows } = await tx.raw(`SELECT fence FROM mint_lanes WHERE ${sameLease} FOR SHARE`, lease);
    if (rows.length === 0) throw new LeaseLostError(lease);
    return result;
  });
}

/** Stores why the lane does not send; undefined when it does. The time of a pause stays while its reason does. */
export async function setPause(db: Database, lease: LaneLease, pause: Pause | undefined): Promise<void> {
  await db.raw(
    `UPDATE mint_lanes SET pause_reason = :reason, pause_detail = :detail, paused_at = CASE
       WHEN :reason::text IS NULL THEN NULL
       WHEN pause_reason = :reason THEN paused_at ELSE clock_timestamp() END
     WHERE ${sameLease}`,
    { ...lease, reason: pause?.reason ?? null, detail: pause?.detail ?? null },
  );
}

/** What keeps a lane from sending, and what an operator wants of it. */
export type LaneOrders = {
  readonly isStopped: boolean;
  /** Why the network waits for a recovery, in words; null when it does not. */
  readonly recovery: string | null;
  /** The nonce that an operator has asked to fill, decimal; null when none. */
  readonly fillNonce: string | null;
};

export async function findOrders(db: Database, lane: LaneId): Promise<LaneOrders> {
  const { rows }: { rows: LaneOrders[] } = await db.raw(
    `SELECT l.stopped_by_operator AS "isStopped", r.detail AS recovery, l.fill_nonce AS "fillNonce"
     FROM mint_lanes l LEFT JOIN mint_recoveries r USING (chain_id) WHERE ${sameLane}`,
    lane,
  );
  return rows[0] ?? { isStopped: false, recovery: null, fillNonce: null };
}

/** Forgets that an operator has asked to fill a nonce. */
export async function forgetAskedFill(db: Database, lease: LaneLease): Promise<void> {
  await db.raw(`UPDATE mint_lanes SET fill_nonce = NULL WHERE ${sameLease}`, lease);
}

/** What there is to do for a lane. */
export type LaneWork = {
  /** The lane has transactions to watch. */
  readonly hasOpen: boolean;
  /** Some of them are in no confirmed block. */
  readonly hasUnconfirmed: boolean;
  /** NFTs are queued on the network of the lane. */
  readonly hasQueued: boolean;
};

export async function findLaneWork(db: Database, lane: LaneId): Promise<LaneWork> {
  const { rows }: { rows: LaneWork[] } = await db.raw(
    `SELECT EXISTS (SELECT 1 FROM mint_transactions WHERE chain_id = :chainId AND signer = :signer
         AND state IN ('submitted', 'confirmed')) OR EXISTS (
         SELECT 1 FROM mint_lanes WHERE ${sameLane} AND fill_nonce IS NOT NULL) OR EXISTS (
         SELECT 1 FROM mint_unproven_transactions u JOIN mint_transactions t ON t.id = u.transaction_id
         WHERE t.chain_id = :chainId AND t.signer = :signer) AS "hasOpen",
       EXISTS (SELECT 1 FROM mint_transactions WHERE chain_id = :chainId AND signer = :signer
         AND state = 'submitted') AS "hasUnconfirmed",
       EXISTS (SELECT 1 FROM nfts WHERE mint_chain_id = :chainId AND mint_state = 'queued') AS "hasQueued"`,
    lane,
  );
  return rows[0] ?? { hasOpen: false, hasUnconfirmed: false, hasQueued: false };
}

/** Lists lanes with work that no process owns, and that no process with their key has owned for a minute. */
export async function listUnstaffedLanes(db: Database): Promise<LaneId[]> {
  const { rows } = await db.raw(
    `SELECT l.chain_id AS "chainId", l.signer FROM mint_lanes l
     WHERE l.staffed_at < clock_timestamp() - interval '1 minute'
       AND (l.expires_at IS NULL OR l.expires_at < clock_timestamp())
       AND (EXISTS (SELECT FROM mint_transactions t WHERE t.chain_id = l.chain_id AND t.signer = l.signer
           AND t.state IN ('submitted', 'confirmed'))
         OR EXISTS (SELECT FROM nfts n WHERE n.mint_chain_id = l.chain_id AND n.mint_state = 'queued'))`,
  );
  return rows;
}
