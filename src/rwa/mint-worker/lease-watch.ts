import type { Lease, SeenLease } from './stores/lane-store.ts';

/**
 * Watches the leases of a lane by the clock and the memory of this process. A holder renews its lease three times in its duration,
 * so one that stayed as it is for that long has no holder any more, whatever the clock of the database says.
 * @param now milliseconds of a clock that never goes back
 * @param leastSeconds the shortest duration to believe in: that of the leases of this process
 */
export function createLeaseWatch(now: () => number, leastSeconds: number) {
  let seen: { readonly lease: SeenLease; readonly since: number } | undefined;
  let highest = -1n;

  return {
    /**
     * Whether the fence of a lease that this process took is above every one that it has seen. Otherwise the database
     * is in an earlier state: restored, or a standby that was behind when it was promoted.
     */
    isNewer({ fence }: Lease): boolean {
      const isNewer = BigInt(fence) > highest;
      if (isNewer) highest = BigInt(fence);
      return isNewer;
    },

    /** @returns the lease when nobody has renewed it for its whole duration */
    expired(found: SeenLease): SeenLease | undefined {
      if (BigInt(found.fence) > highest) highest = BigInt(found.fence);
      if (seen?.lease.fence !== found.fence || seen.lease.expiresAt !== found.expiresAt) {
        seen = { lease: found, since: now() };
        return undefined;
      }
      const seconds = Math.max(leastSeconds, found.seconds ?? 0);
      return now() - seen.since > seconds * 1_000 ? found : undefined;
    },
  };
}

export type LeaseWatch = ReturnType<typeof createLeaseWatch>;
