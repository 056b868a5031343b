import type { Database } from '../contract/transaction.ts';

/*
 * Table `leases`: what one process does at a time. Leases run by the clock of the database, so that differences
 * between the clocks of the processes do not matter.
 */

/** The right to what the name says, until another process takes it. */
export type LeaseRow = {
  readonly name: string;
  /** Grows with each holder. */
  readonly fence: string;
  /** Names the process: `host:pid`. */
  readonly holder: string;
};

/** A lease as a process that waits for it has seen it. */
export type SeenLease = {
  readonly fence: string;
  /** Changes with each renewal. */
  readonly expiresAt: string;
  /** By the clock of the database. */
  readonly isOver: boolean;
};

type NewLease = {
  readonly name: string;
  readonly holder: string;
  readonly seconds: number;
  /** The one that the caller has found to be over. It is taken over unless it was renewed since. */
  readonly seen: SeenLease | undefined;
};

/** @returns undefined while another process holds the lease */
export async function takeLease(
  db: Database,
  { name, holder, seconds, seen }: NewLease,
): Promise<LeaseRow | undefined> {
  const { rows }: { rows: { fence: string }[] } = await db.raw(
    `INSERT INTO leases AS l (name, fence, holder, taken_at, expires_at)
     VALUES (:name, 1, :holder, clock_timestamp(), clock_timestamp() + make_interval(secs => :seconds))
     ON CONFLICT (name) DO UPDATE SET fence = l.fence + 1, holder = excluded.holder, taken_at = excluded.taken_at,
       expires_at = excluded.expires_at
     WHERE l.fence = :fence AND l.expires_at = :expiresAt::timestamptz
     RETURNING fence`,
    { name, holder, seconds, fence: seen?.fence ?? null, expiresAt: seen?.expiresAt ?? null },
  );
  const [row] = rows;
  return row && { name, holder, fence: row.fence };
}

/** Finds a lease, whether it is over or not. @returns undefined when nobody ever took it */
export async function findLease(db: Database, name: string): Promise<SeenLease | undefined> {
  const { rows }: { rows: SeenLease[] } = await db.raw(
    `SELECT fence, expires_at::text AS "expiresAt", expires_at <= clock_timestamp() AS "isOver"
     FROM leases WHERE name = ?`,
    [name],
  );
  return rows[0];
}

const sameLease = 'name = :name AND fence = :fence AND holder = :holder';

/** Extends the lease from now on. @returns false when another process has taken it */
export async function renewLease(db: Database, lease: LeaseRow, seconds: number): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await db.raw(
    `UPDATE leases SET expires_at = clock_timestamp() + make_interval(secs => :seconds) WHERE ${sameLease}`,
    { ...lease, seconds },
  );
  return rowCount === 1;
}

/** Ends the lease now. Does nothing when another process has taken it. */
export async function endLease(db: Database, lease: LeaseRow): Promise<void> {
  await db.raw(`UPDATE leases SET expires_at = clock_timestamp() WHERE ${sameLease}`, { ...lease });
}

/** Who holds a lease now. */
export type LeaseHolder = { readonly process: string; readonly since: Date };

/** @returns undefined when no process holds the lease */
export async function findLeaseHolder(db: Database, name: string): Promise<LeaseHolder | undefined> {
  const { rows }: { rows: LeaseHolder[] } = await db.raw(
    'SELECT holder AS process, taken_at AS since FROM leases WHERE name = ? AND expires_at > clock_timestamp()',
    [name],
  );
  return rows[0];
}
