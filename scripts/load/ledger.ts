import type { Database } from '../../src/contract/transaction.ts';

/** A write that the service accepted with a 2xx. */
export type Write = {
  readonly kind: 'event' | 'attendee' | 'mint';
  readonly company: string;
  /** The event, the event and the attendee, or the NFT. */
  readonly id: string;
  /** When the answer came, in milliseconds of `performance.now()`. */
  readonly at: number;
};

export type Ledger = {
  accept(write: Omit<Write, 'at'>): void;
  /** All accepted writes, in this order. */
  readonly writes: readonly Write[];
  /** Forgets writes that are known to be gone, so that they are reported once. */
  forget(gone: readonly Write[]): void;
};

export function createLedger(): Ledger {
  const writes: Write[] = [];
  return {
    accept: (write) => void writes.push({ ...write, at: performance.now() }),
    writes,
    forget(gone) {
      const all = new Set(gone);
      const kept = writes.filter((write) => !all.has(write));
      writes.splice(0, writes.length, ...kept);
    },
  };
}

/** The accepted writes that the database does not have. */
export async function lostWrites(db: Database, writes: readonly Write[]): Promise<Write[]> {
  const present = {
    event: await namesOf(db, 'SELECT company_id AS company, id::text AS id FROM events'),
    attendee: await namesOf(
      db,
      "SELECT company_id AS company, event_id || ' ' || attendee_id AS id FROM attendees",
    ),
    mint: await namesOf(
      db,
      "SELECT company_id AS company, id::text AS id FROM nfts WHERE mint_state <> 'unclaimed'",
    ),
  };
  return writes.filter(({ kind, company, id }) => !present[kind].has(`${company} ${id}`));
}

async function namesOf(db: Database, sql: string): Promise<Set<string>> {
  const { rows }: { rows: { company: string; id: string }[] } = await db.raw(sql);
  return new Set(rows.map(({ company, id }) => `${company} ${id}`));
}
