import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';
import { endLease, findLease, type LeaseRow, renewLease, type SeenLease, takeLease } from './lease-store.ts';

/** A lease that this process holds. */
export type Lease = {
  /** Aborted when another process has it, or when it could not be renewed for its whole duration. */
  readonly lost: AbortSignal;
  /** Gives it up. Never rejects. */
  release(): Promise<void>;
};

type LeaseOptions = {
  readonly db: Database;
  readonly name: string;
  readonly log: Logger;
  /** Aborts the wait for it. */
  readonly signal: AbortSignal;
  /** Whether to wait while another process holds it; true by default. */
  readonly wait?: boolean;
  /** For how long it is valid after each renewal; 12 by default. */
  readonly seconds?: number;
};

/** Names this process, as people look for it: `host:pid`. */
export const processName = (): string => `${hostname().slice(0, 40)}:${process.pid}`;

// So that with the look for it another process takes over within 15 s.
const usualSeconds = 12;
const longestLookMs = 1_000;

/** Another process holds the lease, and the caller did not want to wait. */
export class LeaseHeldError extends Error {}

/**
 * Acquires the lease of this name, and waits while another process holds it. One whose process is gone ends by itself:
 * by the clock of the database, or, whatever that says, when nobody has renewed it for its duration.
 * @throws LeaseHeldError when it must not wait; Error when the database is out of reach or the signal aborts
 */
export async function acquireLease(options: LeaseOptions): Promise<Lease> {
  const { db, name, signal, seconds = usualSeconds } = options;
  const holder = processName();
  const isForsaken = createRenewalWatch(seconds);
  for (;;) {
    signal.throwIfAborted();
    const seen = await findLease(db, name);
    const isFree = seen === undefined || seen.isOver || isForsaken(seen);
    const row = isFree ? await takeLease(db, { name, holder, seconds, seen }) : undefined;
    if (row !== undefined) return holdLease(options, row);
    if (options.wait === false) throw new LeaseHeldError(`${name} is held by another process`);
    await wait(Math.min((seconds * 1_000) / 5, longestLookMs), undefined, { signal });
  }
}

/** Remembers since when a lease is as it is, and tells whether nobody has renewed it for its duration. */
function createRenewalWatch(seconds: number) {
  let last: { readonly lease: SeenLease; readonly since: number } | undefined;
  return (lease: SeenLease): boolean => {
    const now = performance.now();
    if (last?.lease.fence !== lease.fence || last.lease.expiresAt !== lease.expiresAt) {
      last = { lease, since: now };
    }
    return now - last.since > seconds * 1_000;
  };
}

function holdLease({ db, log, seconds = usualSeconds }: LeaseOptions, row: LeaseRow): Lease {
  const lost = new AbortController();
  let renewedAt = performance.now();
  const lose = () => {
    if (lost.signal.aborted) return;
    log.warn({ lease: row.name }, 'lease lost');
    stop();
  };
  const renew = async () => {
    const askedAt = performance.now();
    // A database that does not answer decides nothing until the lease is over.
    const isRenewed = await renewLease(db, row, seconds).catch(() => undefined);
    if (isRenewed === true) renewedAt = askedAt;
    if (isRenewed === false || performance.now() - renewedAt > seconds * 1_000) lose();
  };
  const timer = setInterval(() => void renew(), (seconds * 1_000) / 3).unref();
  const stop = () => {
    clearInterval(timer);
    lost.abort();
  };
  return {
    lost: lost.signal,
    async release() {
      stop();
      await endLease(db, row).catch(() => {});
    },
  };
}
