import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../../contract/transaction.ts';
import { addLeaseRow, createLeaseStore, type HeldLease, type SeenLease } from './lease-store.ts';

/** A lease that this process has. */
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
  /** Whether to wait while another process has it; true by default. */
  readonly wait?: boolean;
  /** For how long it is valid after each renewal; 12 by default. */
  readonly seconds?: number;
};

/** Names this process, as people search for it: `host:pid`. */
export const processName = (): string => `${hostname().slice(0, 40)}:${process.pid}`;

// Together with the time until the next poll, another process takes over within 15 s.
const usualSeconds = 12;
const longestLookMs = 1_000;

/** Another process has the lease, and the caller did not want to wait. */
export class LeaseHeldError extends Error {}

const leases = createLeaseStore<{ readonly name: string }>({
  name: 'leases',
  same: 'name = :name',
  onTake: 'taken_at = clock_timestamp()',
  onEnd: 'expires_at = clock_timestamp()',
});

/**
 * Acquires the lease of this name, and waits while another process has it. One whose process is gone ends by itself:
 * by the clock of the database, or, whatever that says, when nobody has renewed it for its duration.
 * @throws LeaseHeldError when it must not wait; Error when the database is out of reach or the signal aborts
 */
export async function acquireLease(options: LeaseOptions): Promise<Lease> {
  const { db, name, signal, seconds = usualSeconds } = options;
  const holder = processName();
  const isForsaken = createRenewalWatch(seconds);
  await addLeaseRow(db, name);
  for (;;) {
    signal.throwIfAborted();
    const seen = await leases.find(db, { name });
    const expired = seen && isForsaken(seen) ? seen : undefined;
    const lease = await leases.take(db, { name }, { holder, seconds, expired });
    if (lease !== undefined) return holdLease(options, lease);
    if (options.wait === false) throw new LeaseHeldError(`${name} is held by another process`);
    await wait(Math.min((seconds * 1_000) / 5, longestLookMs), undefined, { signal });
  }
}

/**
 * Remembers since when a lease is as it is, by the clock of this process, and says whether nobody has renewed it for its
 * duration. A holder renews three times in that time.
 * @param leastSeconds the shortest duration to believe in
 * @param now milliseconds of a clock that never goes back
 */
export function createRenewalWatch(leastSeconds: number, now = () => performance.now()) {
  let last: { readonly lease: SeenLease; readonly since: number } | undefined;
  return (lease: SeenLease): boolean => {
    if (last?.lease.fence !== lease.fence || last.lease.expiresAt !== lease.expiresAt) {
      last = { lease, since: now() };
    }
    return now() - last.since > Math.max(leastSeconds, lease.seconds ?? 0) * 1_000;
  };
}

/**
 * Renews a lease three times in its duration. A database that does not answer decides nothing.
 * @param onRenewed called with whether this process still has the lease; undefined when that is unknown
 * @returns what ends it
 */
export function keepRenewed(
  seconds: number,
  renew: () => Promise<boolean>,
  onRenewed: (isHeld: boolean | undefined, askedAt: number) => void,
): () => void {
  const run = async () => {
    const askedAt = performance.now();
    onRenewed(await renew().catch(() => undefined), askedAt);
  };
  const timer = setInterval(() => void run(), (seconds * 1_000) / 3).unref();
  return () => clearInterval(timer);
}

function holdLease(
  { db, log, seconds = usualSeconds }: LeaseOptions,
  lease: HeldLease & { readonly name: string },
): Lease {
  const lost = new AbortController();
  let renewedAt = performance.now();
  const endRenewal = keepRenewed(
    seconds,
    () => leases.renew(db, lease, seconds),
    (isHeld, askedAt) => {
      if (isHeld === true) renewedAt = askedAt;
      const isOver = isHeld === false || performance.now() - renewedAt > seconds * 1_000;
      if (!isOver || lost.signal.aborted) return;
      log.warn({ lease: lease.name }, 'lease lost');
      stop();
    },
  );
  const stop = () => {
    endRenewal();
    lost.abort();
  };
  return {
    lost: lost.signal,
    async release() {
      stop();
      await leases.end(db, lease).catch(() => {});
    },
  };
}

/**
 * Runs work while this process has the lease of this name, and gives it up afterwards.
 * @param run gets a signal that aborts with the given signal, and when the lease is lost
 */
export async function withLease(
  options: LeaseOptions,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lease = await acquireLease(options);
  try {
    await run(AbortSignal.any([options.signal, lease.lost]));
  } finally {
    await lease.release();
  }
}
