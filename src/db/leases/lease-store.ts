import type { Database } from '../../contract/transaction.ts';

/*
 * Leases: what one process does at a time. They run by the clock of the database, so that differences between the clocks
 * of the processes do not matter. A lease is a row with `fence`, `holder` and `expires_at`, of `leases` or of a table that
 * keeps more of what the lease is for.
 */

/** The right to what the row stands for, until another process takes it. */
export type HeldLease = {
  /** Grows with each holder. */
  readonly fence: string;
  /** Names the process. */
  readonly holder: string;
};

/** A lease as a process that waits for it has seen it. */
export type SeenLease = {
  readonly fence: string;
  /** Changes with each renewal. */
  readonly expiresAt: string;
  /** How long it is valid after each renewal; null when the table does not say, or an earlier release took it. */
  readonly seconds: number | null;
};

/**
 * The SQL by which statements take, renew and end a lease in a table. Its values are the values of the `Key`, and
 * `:seconds`.
 */
export type LeaseTable = {
  readonly name: string;
  /** Says which row. */
  readonly same: string;
  /** When else than after its end a lease may be taken. */
  readonly orFree?: string;
  readonly secondsColumn?: string;
  /** The columns that are set with the lease. */
  readonly onTake: string;
  readonly onRenew?: string;
  readonly onEnd: string;
};

/** The SQL condition of the row while this process has its lease. */
export const heldRow = ({ same }: Pick<LeaseTable, 'same'>): string =>
  // Compares the holder too: a database that went back to an earlier state gives the same fence to another holder.
  `${same} AND fence = :fence AND holder = :holder`;

export type LeaseStore<Key, Terms> = {
  /** Finds a lease, whether it is over or not. @returns undefined when it was given back, or never taken */
  find(db: Database, key: Key): Promise<SeenLease | undefined>;
  /**
   * Takes a lease that is over.
   * @param terms.expired a lease that the caller knows to be over; it is taken unless it was renewed since
   * @returns undefined while another process has the lease
   */
  take(db: Database, key: Key, terms: Terms & NewLease): Promise<(Key & HeldLease) | undefined>;
  /** Extends the lease from now on. @returns false when another process has taken it */
  renew(db: Database, lease: Key & HeldLease, seconds: number): Promise<boolean>;
  /** Ends the lease now. Does nothing when another process has taken it. */
  end(db: Database, lease: Key & HeldLease): Promise<void>;
};

type NewLease = {
  readonly holder: string;
  readonly seconds: number;
  readonly expired: SeenLease | undefined;
};
type Values = Readonly<Record<string, string | number | boolean>>;

/** Keeps the leases of a table whose rows are there already. */
export function createLeaseStore<Key extends Values, Terms extends Values = Record<never, never>>(
  table: LeaseTable,
): LeaseStore<Key, Terms> {
  const { name, same, orFree = 'false', secondsColumn = 'NULL::integer', onTake, onRenew, onEnd } = table;
  const fromNow = 'expires_at = clock_timestamp() + make_interval(secs => :seconds)';
  const held = heldRow(table);
  return {
    async find(db, key) {
      const { rows }: { rows: SeenLease[] } = await db.raw(
        `SELECT fence, expires_at::text AS "expiresAt", ${secondsColumn} AS seconds
         FROM ${name} WHERE ${same} AND expires_at IS NOT NULL`,
        key,
      );
      return rows[0];
    },
    async take(db, key, { expired, ...terms }) {
      const { rows }: { rows: { fence: string }[] } = await db.raw(
        `UPDATE ${name} SET fence = fence + 1, holder = :holder, ${fromNow}, ${onTake}
         WHERE ${same} AND (expires_at IS NULL OR expires_at <= clock_timestamp() OR ${orFree}
           OR (fence = :seenFence AND expires_at = :seenExpiry::timestamptz)) RETURNING fence`,
        { ...key, ...terms, seenFence: expired?.fence ?? null, seenExpiry: expired?.expiresAt ?? null },
      );
      const [row] = rows;
      return row && { ...key, fence: row.fence, holder: terms.holder };
    },
    async renew(db, lease, seconds) {
      const set = onRenew === undefined ? fromNow : `${fromNow}, ${onRenew}`;
      const { rowCount } = await db.raw(`UPDATE ${name} SET ${set} WHERE ${held}`, { ...lease, seconds });
      return rowCount === 1;
    },
    async end(db, lease) {
      await db.raw(`UPDATE ${name} SET ${onEnd} WHERE ${held}`, lease);
    },
  };
}

/** Makes the row of a lease in `leases`, over from the beginning, where there is none. */
export async function addLeaseRow(db: Database, name: string): Promise<void> {
  await db.raw(
    `INSERT INTO leases (name, fence, holder, taken_at, expires_at)
     VALUES (?, 0, '', clock_timestamp(), '-infinity') ON CONFLICT DO NOTHING`,
    [name],
  );
}

/** Returns the process that has a lease of `leases` now. */
export type LeaseHolder = { readonly process: string; readonly since: Date };

/** @returns undefined when no process has the lease */
export async function findLeaseHolder(db: Database, name: string): Promise<LeaseHolder | undefined> {
  const { rows }: { rows: LeaseHolder[] } = await db.raw(
    'SELECT holder AS process, taken_at AS since FROM leases WHERE name = ? AND expires_at > clock_timestamp()',
    [name],
  );
  return rows[0];
}
