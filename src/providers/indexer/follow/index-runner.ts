import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import { acquireLease } from '../../../db/leases/lease.ts';
import { recordIndexError } from '../store/write/index-state-store.ts';
import type { TokenFiller } from '../tokens/token-filler.ts';
import type { Follower } from './follower.ts';
import { createStandstillWatch } from './standstill.ts';

export type IndexRunner = {
  /** Resolves after the signal, once the step in progress has ended. */
  run(signal: AbortSignal): Promise<void>;
};

type RunnerOptions = {
  readonly chainId: string;
  readonly db: Database;
  /** How long the lease of the network is valid after each renewal; by default as {@link acquireLease} has it. */
  readonly leaseSeconds?: number;
  /** Creates a follower each time that this process acquires the lease, so that no state is stale. */
  readonly createFollower: () => Follower;
  readonly filler: TokenFiller;
  readonly log: Logger;
  /** Pause between two polls of a chain without new blocks, in milliseconds. */
  readonly pollMs: number;
  /** Called when the filler has worked through what changed. */
  readonly onFilled?: () => void;
  /** Called when this process starts and when it stops indexing the network. */
  readonly onLeading?: (leading: boolean) => void;
};

// A try costs little where a circuit breaker is open, and the index is late by as much as it pauses.
const longestPauseMs = 5_000;
const longestRestMs = 10_000;

/** Pause between two polls for work in the database that nothing announced. */
export const restMs = (pollMs: number): number => Math.min(50 * pollMs, longestRestMs);

/** The name of the lease that guards the index of a network. */
export const indexLeaseName = (chainId: string) => `index ${chainId}`;

/**
 * Keeps the index of one network up to date while this process owns its lease. Until then it waits. It takes over
 * when the owner releases the lease or has not renewed it for its duration.
 */
export function createIndexRunner(options: RunnerOptions): IndexRunner {
  const { chainId, db, log, pollMs, leaseSeconds } = options;

  const lead = async (signal: AbortSignal) => {
    const follower = options.createFollower();
    const fill = createRestingFill(options);
    let failures = 0;
    let reported: Error | undefined | 'unknown' = 'unknown';
    const standstill = createStandstillWatch(options);
    // While the database is out, only the log has the error.
    const untold = (cause: unknown) => log.warn({ err: cause, chainId }, 'the failure could not be stored');
    const report = async (error: Error | undefined) => {
      if (reported === undefined && error === undefined) return;
      await recordIndexError(db, chainId, error?.message);
      reported = error;
    };
    while (!signal.aborted) {
      try {
        const step = await follower.step();
        // Token names matter near the head, where people read them. While the index is behind, blocks come first.
        const more = step === 'idle' ? await fill.whenDue() : fill.changed();
        failures = 0;
        await report(undefined);
        await standstill.succeeded();
        if (!more) await pause(pollMs, signal);
      } catch (err) {
        failures += 1;
        const pauseMs = Math.min(pollMs * 2 ** Math.min(failures, 10), longestPauseMs);
        log.warn({ err, chainId, pauseMs }, 'indexing failed, trying again');
        const error = err instanceof Error ? err : new Error(String(err));
        await report(error).catch(untold);
        await standstill.failed(error, follower.blockedAt()).catch(untold);
        await pause(pauseMs, signal);
      }
    }
  };

  return {
    async run(signal) {
      while (!signal.aborted) {
        const name = indexLeaseName(chainId);
        const within = leaseSeconds === undefined ? {} : { seconds: leaseSeconds };
        const lease = await acquireLease({ db, name, log, signal, ...within }).catch((err: unknown) => {
          if (!signal.aborted) log.warn({ err, chainId }, 'no lease for indexing');
          return undefined;
        });
        if (lease === undefined) {
          await pause(pollMs, signal);
          continue;
        }
        log.info({ chainId }, 'indexing');
        options.onLeading?.(true);
        try {
          await lead(AbortSignal.any([signal, lease.lost]));
        } finally {
          options.onLeading?.(false);
          await lease.release();
        }
      }
    },
  };
}

/** Fills after changes until there is no more, and then only now and then, to try failed work again. */
function createRestingFill({
  filler,
  pollMs,
  onFilled,
}: Pick<RunnerOptions, 'filler' | 'pollMs' | 'onFilled'>) {
  let dueAt = 0;
  return {
    /** @returns true, since there is something to do */
    changed(): true {
      dueAt = 0;
      return true;
    },
    async whenDue(): Promise<boolean> {
      if (performance.now() < dueAt) return false;
      const more = await filler.fill();
      dueAt = more ? 0 : performance.now() + restMs(pollMs);
      onFilled?.();
      return more;
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
