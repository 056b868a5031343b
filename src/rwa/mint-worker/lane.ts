import { once } from 'node:events';
import { createTrigger, type Trigger } from '../../base/trigger.ts';
import { createRenewalWatch, keepRenewed } from '../../db/leases/lease.ts';
import type { SeenLease } from '../../db/leases/lease-store.ts';
import type { LaneDeps } from './context/lane-context.ts';
import { createLanePoll } from './lane-poll.ts';
import { createPauseReport, pauseForFailure } from './pauses.ts';
import {
  type LaneId,
  type LaneLease,
  LeaseLostError,
  laneLeases,
  type Pause,
  setPause,
} from './stores/lane-store.ts';

export type Lane = LaneId & {
  /**
   * Polls at once, or right after the current poll.
   * @param causes each a `traceparent`: that poll goes on with their traces
   */
  notify(causes?: readonly string[]): void;
  /** Stops after the current poll and releases the lane. */
  stop(): Promise<void>;
  /** Settles when the lane has stopped: by `stop`, or because another process took a lane that was only watched. */
  readonly ended: Promise<void>;
};

/**
 * Starts to work on a lane: waits for its lease, then polls until another process takes the lane. One that is only
 * watched does not wait.
 */
export function startLane(deps: LaneDeps): Lane {
  const { lane, settings, watchOnly } = deps;
  const stopping = new AbortController();
  const trigger = createTrigger(stopping.signal);
  let causes: readonly string[] = [];
  const takeCauses = () => {
    const taken = causes;
    causes = [];
    return taken;
  };
  const leases = createLeaseWatch(deps.now, settings.leaseSeconds);

  const run = async () => {
    do {
      const lease = await tryAcquire(deps, leases);
      if (lease !== undefined && !leases.isNewer(lease)) {
        await refuseLease(deps, lease);
        // Trying again would raise the fence above the one that was seen.
        if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
      } else if (lease !== undefined) {
        await workUnderLease(deps, lease, { trigger, takeCauses, stopping: stopping.signal });
      } else if (!watchOnly) {
        await trigger.wait(settings.pollMs);
      }
    } while (!stopping.signal.aborted && !watchOnly);
  };
  const ended = run();

  return {
    ...lane,
    notify(more = []) {
      causes = [...causes, ...more].slice(0, mostCauses);
      trigger.fire();
    },
    async stop() {
      stopping.abort();
      await ended;
    },
    ended,
  };
}

/** @returns undefined when another process owns the lane, or when the database does not answer */
async function tryAcquire(deps: LaneDeps, leases: LeaseWatch): Promise<LaneLease | undefined> {
  const { db, lane, holder, watchOnly, settings, log } = deps;
  try {
    const seen = await laneLeases.find(db, lane);
    const expired = seen && leases.expired(seen);
    return await laneLeases.take(db, lane, { holder, watchOnly, seconds: settings.leaseSeconds, expired });
  } catch (err) {
    log.warn({ err, ...lane }, 'mint lane cannot be asked for');
    return undefined;
  }
}

/** Gives back a lease whose fence is not above one that this process has seen, and stores the reason. */
async function refuseLease(deps: LaneDeps, lease: LaneLease): Promise<void> {
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

// A poll names no more. Only the traces of the others are lost.
const mostCauses = 100;

type Work = {
  readonly trigger: Trigger;
  readonly takeCauses: () => readonly string[];
  readonly stopping: AbortSignal;
};

/** Polls until the lease is lost or the lane is to stop. A poll that fails pauses the lane and is tried again. */
async function workUnderLease(deps: LaneDeps, lease: LaneLease, work: Work): Promise<void> {
  const { log, settings, step } = deps;
  const { trigger, takeCauses, stopping } = work;
  const renewal = startRenewal(deps, lease);
  const poll = createLanePoll(deps, lease, { takeCauses, stopping });
  const report = createPauseReport(deps, lease);
  const reportFailures = createFailureLog(deps, lease);
  try {
    await step(deps.watchOnly ? 'watched' : 'taken', {});
    while (!stopping.aborted && renewal.isValid()) {
      await reportFailures(async () => {
        const pause = await pollSafely(poll);
        // A poll that ended early has not tried everything.
        if (!stopping.aborted) await report(pause);
      });
      await trigger.wait(settings.pollMs);
    }
  } catch (err) {
    log.warn({ err, ...lease }, 'mint lane lost');
  } finally {
    renewal.stop();
    await giveBack(deps, lease);
  }
}

async function giveBack({ db, log }: LaneDeps, lease: LaneLease): Promise<void> {
  try {
    await laneLeases.end(db, lease);
  } catch (err) {
    log.warn({ err, ...lease }, 'mint lane not given back');
  }
}

/** @returns why the lane does not send; also when the poll failed */
async function pollSafely(poll: () => Promise<Pause | undefined>): Promise<Pause | undefined> {
  try {
    return await poll();
  } catch (err) {
    if (err instanceof LeaseLostError) throw err;
    return pauseForFailure(err);
  }
}

/** Logs when reports begin to fail and when they succeed again: without a database a pause cannot be stored. */
function createFailureLog({ log }: LaneDeps, lease: LaneLease) {
  let isFailing = false;
  return async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      if (isFailing) log.info({ ...lease }, 'mint lane can store its state again');
      isFailing = false;
    } catch (err) {
      if (err instanceof LeaseLostError) throw err;
      if (!isFailing) log.warn({ err, ...lease }, 'mint lane cannot store its state, and will try again');
      isFailing = true;
    }
  };
}

/** Renews the lease until another process has taken the lane: what the database does not answer, the fence decides. */
function startRenewal({ db, settings: { leaseSeconds } }: LaneDeps, lease: LaneLease) {
  let isValid = true;
  const stop = keepRenewed(
    leaseSeconds,
    () => laneLeases.renew(db, lease, leaseSeconds),
    (isHeld) => {
      if (isHeld === false) isValid = false;
    },
  );
  return { isValid: () => isValid, stop };
}

/**
 * Watches the leases of a lane by the clock and the memory of this process.
 * @param now milliseconds of a clock that never goes back
 * @param leastSeconds the shortest duration to believe in: that of the leases of this process
 */
function createLeaseWatch(now: () => number, leastSeconds: number) {
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

type LeaseWatch = ReturnType<typeof createLeaseWatch>;
