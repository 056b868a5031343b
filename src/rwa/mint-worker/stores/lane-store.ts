import type { Database, Tx } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { MintReason } from '../../minting/mint-reason.ts';

/*
 * Table `mint_lanes`: the lanes, who holds them and why they do not send. Leases run by the clock of the
 * database, so that differences between the clocks of the processes do not matter.
 */

/** One signer on one network. */
export type LaneId = {
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly signer: string;
};

/** The right to write to a lane, until another process takes it. The fence grows with each holder. */
export type Lease = LaneId & { readonly fence: string; readonly holder: string };

/** Another process holds the lane; the transaction was rolled back. */
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
// The holder too: a database that went back to an earlier state gives the same fence to another one.
const sameLease = `${sameLane} AND fence = :fence AND holder = :holder`;
const staffedUnless = (watchOnly: string) =>
  `staffed_at = CASE WHEN ${watchOnly} THEN staffed_at ELSE clock_timestamp() END`;

/** Registers a lane. The service accepts mints on its network from then on. */
export async function registerLane(db: Database, lane: LaneId): Promise<void> {
  await db.raw(
    'INSERT INTO mint_lanes (chain_id, signer) VALUES (:chainId, :signer) ON CONFLICT DO NOTHING',
    lane,
  );
}

/** The lease of another process, as this one has seen it. */
export type SeenLease = {
  readonly fence: string;
  /** Changes with each renewal. */
  readonly expiresAt: string;
  /** How long it is valid after each renewal; null when it was taken by an earlier release. */
  readonly seconds: number | null;
};

type NewLease = {
  /** Names this process to operators. */
  readonly holder: string;
  /** It has no key: it watches what is sent, and gives way to a process that has one. */
  readonly watchOnly: boolean;
  readonly seconds: number;
  /** A lease that this process has seen to expire. It is taken over unless it was renewed since. */
  readonly expired: SeenLease | undefined;
};

/**
 * Takes the lease of a lane that is free or whose lease has expired.
 * @returns undefined while another process holds the lane
 */
export async function acquireLease(
  db: Database,
  lane: LaneId,
  { holder, watchOnly, seconds, expired }: NewLease,
): Promise<Lease | undefined> {
  const { rows }: { rows: { fence: string }[] } = await db.raw(
    `UPDATE mint_lanes SET fence = fence + 1, holder = :holder, watch_only = :watchOnly, lease_seconds = :seconds,
       ${staffedUnless(':watchOnly')}, expires_at = clock_timestamp() + make_interval(secs => :seconds)
     WHERE ${sameLane} AND (expires_at IS NULL OR expires_at < clock_timestamp()
       OR (watch_only AND NOT :watchOnly)
       OR (fence = :seenFence AND expires_at = :seenExpiry::timestamptz)) RETURNING fence`,
    {
      ...lane,
      holder,
      watchOnly,
      seconds,
      seenFence: expired?.fence ?? null,
      seenExpiry: expired?.expiresAt ?? null,
    },
  );
  const [row] = rows;
  return row && { ...lane, fence: row.fence, holder };
}

/** Finds the lease of a lane. @returns undefined when the lane is free */
export async function findLease(db: Database, lane: LaneId): Promise<SeenLease | undefined> {
  const { rows }: { rows: SeenLease[] } = await db.raw(
    `SELECT fence, expires_at::text AS "expiresAt", lease_seconds AS seconds
     FROM mint_lanes WHERE ${sameLane} AND expires_at IS NOT NULL`,
    lane,
  );
  return rows[0];
}

/** Extends the lease from now on. @returns false when another process has taken the lane */
export async function renewLease(db: Database, lease: Lease, seconds: number): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await db.raw(
    `UPDATE mint_lanes SET expires_at = clock_timestamp() + make_interval(secs => :seconds),
       ${staffedUnless('watch_only')} WHERE ${sameLease}`,
    { ...lease, seconds },
  );
  return rowCount === 1;
}

/** Frees the lane for other processes. Does nothing when another process has taken it. */
export async function releaseLease(db: Database, lease: Lease): Promise<void> {
  await db.raw(
    `UPDATE mint_lanes SET holder = NULL, expires_at = NULL, ${staffedUnless('watch_only')} WHERE ${sameLease}`,
    lease,
  );
}

/**
 * Runs the work in one transaction that commits only while the lease is valid.
 * @throws LeaseLostError when another process has taken the lane; the work is rolled back then
 */
export function inFencedTransaction<T>(db: Database, lease: Lease, work: (tx: Tx) => Promise<T>): Promise<T> {
  return inTransaction(db, async (tx) => {
    const result = await work(tx);
    // Last, to lock the row only briefly; until the commit nobody can take the lane.
    const { rows } = await tx.raw(`SELECT fence FROM mint_lanes WHERE ${sameLease} FOR SHARE`, lease);
    if (rows.length === 0) throw new LeaseLostError(lease);
    return result;
  });
}

/** Stores why the lane does not send; undefined when it does. The time of a pause stays while its reason does. */
export async function setPause(db: Database, lease: Lease, pause: Pause | undefined): Promise<void> {
  await db.raw(
    `UPDATE mint_lanes SET pause_reason = :reason, pause_detail = :detail, paused_at = CASE
       WHEN :reason::text IS NULL THEN NULL
       WHEN pause_reason = :reason THEN paused_at ELSE clock_timestamp() END
     WHERE ${sameLease}`,
    { ...lease, reason: pause?.reason ?? null, detail: pause?.detail ?? null },
  );
}

/** Whether an operator has stopped the lane from sending. */
export async function isStoppedByOperator(db: Database, lane: LaneId): Promise<boolean> {
  const { rows } = await db.raw(
    `SELECT fence FROM mint_lanes WHERE ${sameLane} AND stopped_by_operator`,
    lane,
  );
  return rows.length > 0;
}

/** The nonce that an operator has asked to fill; undefined when none. */
export async function findAskedFill(db: Database, lane: LaneId): Promise<bigint | undefined> {
  const { rows }: { rows: { nonce: string }[] } = await db.raw(
    `SELECT fill_nonce AS nonce FROM mint_lanes WHERE ${sameLane} AND fill_nonce IS NOT NULL`,
    lane,
  );
  const [row] = rows;
  return row && BigInt(row.nonce);
}

/** Forgets that an operator has asked to fill a nonce. */
export async function forgetAskedFill(db: Database, lease: Lease): Promise<void> {
  await db.raw(`UPDATE mint_lanes SET fill_nonce = NULL WHERE ${sameLease}`, lease);
}

/**
 * Whether the lane has transactions to watch, whether some of them are in no confirmed block, and whether NFTs are
 * queued on its network.
 */
export async function findLaneWork(
  db: Database,
  lane: LaneId,
): Promise<{ hasOpen: boolean; hasUnconfirmed: boolean; hasQueued: boolean }> {
  const { rows } = await db.raw(
    `SELECT EXISTS (SELECT 1 FROM mint_transactions WHERE chain_id = :chainId AND signer = :signer
         AND state IN ('submitted', 'confirmed')) OR EXISTS (
         SELECT 1 FROM mint_lanes WHERE ${sameLane} AND fill_nonce IS NOT NULL) OR EXISTS (
         SELECT 1 FROM mint_unproven_transactions u JOIN mint_transactions t ON t.id = u.transaction_id
         WHERE t.chain_id = :chainId AND t.signer = :signer) AS has_open,
       EXISTS (SELECT 1 FROM mint_transactions WHERE chain_id = :chainId AND signer = :signer
         AND state = 'submitted') AS has_unconfirmed,
       EXISTS (SELECT 1 FROM nfts WHERE mint_chain_id = :chainId AND mint_state = 'queued') AS has_queued`,
    lane,
  );
  const [row]: { has_open: boolean; has_unconfirmed: boolean; has_queued: boolean }[] = rows;
  return {
    hasOpen: row?.has_open === true,
    hasUnconfirmed: row?.has_unconfirmed === true,
    hasQueued: row?.has_queued === true,
  };
}

/** Lists lanes with work that nobody holds, and that no process with their key has held for a minute. */
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
