import { once } from 'node:events';
import type { LaneDeps } from './lane-context.ts';
import { createLanePoll } from './lane-poll.ts';
import { createLeaseWatch, type LeaseWatch } from './lease-watch.ts';
import { createPollTrigger, type PollTrigger } from './poll-trigger.ts';
import {
  acquireLease,
  findLease,
  type LaneId,
  type Lease,
  LeaseLostError,
  releaseLease,
  renewLease,
  setPause,
} from './stores/lane-store.ts';

export type Lane = LaneId & {
  /** Polls at once, or right after the current poll. */
  notify(): void;
  /** Whether this process holds the lane. */
  isHeld(): boolean;
  /** Stops after the current poll and releases the lane. */
  stop(): Promise<void>;
};

/** Starts to work on a lane: waits for its lease, then polls until another process takes the lane. */
export function startLane(deps: LaneDeps): Lane {
  const { lane, settings } = deps;
  const stopping = new AbortController();
  const trigger = createPollTrigger();
  const leases = createLeaseWatch(deps.now, settings.leaseSeconds);
  let held = false;

  const run = async () => {
    while (!stopping.signal.aborted) {
      const lease = await tryAcquire(deps, leases);
      if (lease === undefined) {
        await trigger.wait(settings.pollMs);
      } else if (!leases.isNewer(lease)) {
        await refuseLease(deps, lease);
        // Trying again would raise the fence above the one that was seen.
        if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
      } else {
        held = true;
        await workUnderLease(deps, lease, trigger, stopping.signal);
        held = false;
      }
    }
  };
  const stopped = run();

  return {
    ...lane,
    notify: trigger.fire,
    isHeld: () => held,
    async stop() {
      stopping.abort();
      trigger.fire();
      await stopped;
    },
  };
}

/** @returns undefined when another process holds the lane, or when that cannot be found out */
async function tryAcquire(deps: LaneDeps, leases: LeaseWatch): Promise<Lease | undefined> {
  const { db, lane, holder, settings, log } = deps;
  try {
    const seen = await findLease(db, lane);
    const expired = seen && leases.expired(seen);
    return await acquireLease(db, lane, { holder, seconds: settings.leaseSeconds, expired });
  } catch (err) {
    log.warn({ err, ...lane }, 'mint lane cannot be asked for');
    return undefined;
  }
}

/** Gives a lease back whose fence is not above one that this process has seen, and says so. */
async function refuseLease(deps: LaneDeps, lease: Lease): Promise<void> {
  const { db, log, lane, step } = deps;
  const detail = `The fence of the lane was higher before: the database is in an earlier state (fence ${lease.fence}).`;
  const pause = { reason: 'database_went_back', detail } as const;
  try {
    await setPause(db, lease, pause);
    await step('paused', pause);
  } catch (err) {
    log.warn({ err, ...lane }, 'mint lane cannot be paused');
  } finally {
    await giveBack(deps, lease);
  }
}

/** Polls until the lease is lost or the lane is to stop. A poll that fails is logged and tried again. */
async function workUnderLease(
  deps: LaneDeps,
  lease: Lease,
  trigger: PollTrigger,
  stopping: AbortSignal,
): Promise<void> {
  const { log, settings, step } = deps;
  const renewal = startRenewal(deps, lease);
  const poll = createLanePoll(deps, lease, stopping);
  try {
    await step('taken', {});
    while (!stopping.aborted && renewal.isValid()) {
      try {
        await poll();
      } catch (err) {
        if (err instanceof LeaseLostError) throw err;
        log.warn({ err, ...lease }, 'mint lane could not go on, and will try again');
      }
      await trigger.wait(settings.pollMs);
    }
  } catch (err) {
    log.warn({ err, ...lease }, 'mint lane lost');
  } finally {
    renewal.stop();
    await giveBack(deps, lease);
  }
}

async function giveBack({ db, log }: LaneDeps, lease: Lease): Promise<void> {
  try {
    await releaseLease(db, lease);
  } catch (err) {
    log.warn({ err, ...lease }, 'mint lane not given back');
  }
}

/** Renews the lease three times in its duration, until another process has taken the lane. */
function startRenewal({ db, settings }: LaneDeps, lease: Lease) {
  const seconds = settings.leaseSeconds;
  let valid = true;

  const renew = async () => {
    try {
      const renewed = await renewLease(db, lease, seconds);
      valid = valid && renewed;
    } catch {
      // A database that does not answer decides nothing: the fence does.
    }
  };
  const timer = setInterval(() => void renew(), (seconds * 1_000) / 3);

  return { isValid: () => valid, stop: () => clearInterval(timer) };
}
