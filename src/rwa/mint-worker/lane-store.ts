import type { Database, Tx } from '../../contract/transaction.ts';

/** One signer on one network. */
export type LaneId = {
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly signer: string;
};

/** A lane that we may write to, for as long as nobody else has taken it. */
export type Lease = LaneId & { readonly fence: string };

/** Somebody else holds the lane: whatever was about to be written is not. */
export class LeaseLostError extends Error {
  constructor({ chainId, signer }: LaneId) {
    super(`The lane of ${signer} on network ${chainId} is held by another process.`);
    this.name = 'LeaseLostError';
  }
}

/**
 * Why a lane does not send. What is in flight is watched all the same, and it goes on by itself when the
 * cause is gone.
 */
export type Pause = {
  readonly reason: 'operator' | 'balance_too_low' | 'fee_above_cap' | 'foreign_nonce' | 'contract_refuses';
  readonly detail: string;
};

export type LaneStore = {
  /** Makes the lane known; callers may then ask for mints on its network. */
  register(lane: LaneId): Promise<void>;
  /** @returns undefined while another process holds the lane */
  acquire(lane: LaneId, holder: string, seconds: number): Promise<Lease | undefined>;
  /** @returns false when the lane is somebody else's meanwhile */
  renew(lease: Lease, seconds: number): Promise<boolean>;
  release(lease: Lease): Promise<void>;
  /** Notes why the lane does not send; undefined when it does. */
  setPause(lease: Lease, pause: Pause | undefined): Promise<void>;
  isStoppedByOperator(lane: LaneId): Promise<boolean>;
  /** Runs the work in one transaction that commits only while the lease is good. */
  fenced<T>(lease: Lease, work: (tx: Tx) => Promise<T>): Promise<T>;
};

const ofLane = 'chain_id = :chainId AND signer = :signer';
const ofLease = `${ofLane} AND fence = :fence`;

/** Leases in the database, by its own clock: the clocks of the processes have no part in it. */
export function createLaneStore(db: Database): LaneStore {
  const change = async (
    sql: string,
    values: Record<string, string | number | null>,
  ): Promise<{ fence: string }[]> => (await db.raw(sql, values)).rows;

  return {
    async register(lane) {
      await change(
        'INSERT INTO mint_lanes (chain_id, signer) VALUES (:chainId, :signer) ON CONFLICT DO NOTHING',
        lane,
      );
    },
    async acquire(lane, holder, seconds) {
      const [row] = await change(
        `UPDATE mint_lanes SET fence = fence + 1, holder = :holder,
           expires_at = clock_timestamp() + make_interval(secs => :seconds)
         WHERE ${ofLane} AND (expires_at IS NULL OR expires_at < clock_timestamp()) RETURNING fence`,
        { ...lane, holder, seconds },
      );
      return row && { ...lane, fence: row.fence };
    },
    async renew(lease, seconds) {
      const rows = await change(
        `UPDATE mint_lanes SET expires_at = clock_timestamp() + make_interval(secs => :seconds)
         WHERE ${ofLease} RETURNING fence`,
        { ...lease, seconds },
      );
      return rows.length === 1;
    },
    async release(lease) {
      await change(`UPDATE mint_lanes SET holder = NULL, expires_at = NULL WHERE ${ofLease}`, lease);
    },
    async setPause(lease, pause) {
      await change(
        `UPDATE mint_lanes SET pause_reason = :reason, pause_detail = :detail, paused_at = CASE
           WHEN :reason::text IS NULL THEN NULL
           WHEN pause_reason = :reason THEN paused_at ELSE clock_timestamp() END
         WHERE ${ofLease}`,
        { ...lease, reason: pause?.reason ?? null, detail: pause?.detail ?? null },
      );
    },
    async isStoppedByOperator(lane) {
      const rows = await change(`SELECT fence FROM mint_lanes WHERE ${ofLane} AND stopped_by_operator`, lane);
      return rows.length > 0;
    },
    fenced(lease, work) {
      return db.transaction(async (tx) => {
        const result = await work(tx);
        // Last, so that the row is held shortly; until the commit nobody can take the lane.
        const { rows } = await tx.raw(`SELECT fence FROM mint_lanes WHERE ${ofLease} FOR SHARE`, lease);
        if (rows.length === 0) throw new LeaseLostError(lease);
        return result;
      });
    },
  };
}
