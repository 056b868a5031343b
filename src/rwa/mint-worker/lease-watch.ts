import { createRenewalWatch } from '../../db/leases/lease.ts';
import type { SeenLease } from '../../db/leases/lease-store.ts';
import type { LaneLease } from './stores/lane-store.ts';

/**
 * Watches the leases of a lane by the clock and the memory of this process.
 * @param now milliseconds of a clock that never goes back
 * @param leastSeconds the shortest duration to believe in: that of the leases of this process
 */
export function createLeaseWatch(now: () => number, leastSeconds: number) {
  const isForsaken = createRenewalWatch(leastSeconds, now);
  let highest = -1n;

  return {
    /**
     * Whether the fence of a lease that this process took is above every one that it has seen. Otherwise the database
     * is in an earlier state: restored, or a standby that was behind when it was promoted.
     */
    isNewer({ fence }: LaneLease): boolean {
      const isNewer = BigInt(fence) > highest;
      if (isNewer) highest = BigInt(fence);
      return isNewer;
    },

    /** @returns the lease when nobody has renewed it for its whole duration */
    expired(found: SeenLease): SeenLease | undefined {
      if (BigInt(found.fence) > highest) highest = BigInt(found.fence);
      return isForsaken(found) ? found : undefined;
    },
  };
}

export type LeaseWatch = ReturnType<typeof createLeaseWatch>;
