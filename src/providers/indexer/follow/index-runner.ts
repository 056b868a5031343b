import { setTimeout as wait } from 'node:timers/promises';
import { acquireAdvisoryLock } from '../../../db/advisory-lock.ts';
import type { Logger } from '../../../log.ts';
import type { TokenFiller } from '../tokens/token-filler.ts';
import type { Follower } from './follower.ts';

export type IndexRunner = {
  /** Resolves after the signal, once the step in progress has ended. */
  run(signal: AbortSignal): Promise<void>;
};

type RunnerOptions = {
  readonly chainId: string;
  /** A direct connection for the advisory lock: a transaction pooler would not keep it. */
  readonly databaseUrl: string;
  /** Creates a follower each time that this process acquires the lock, so that no state is stale. */
  readonly createFollower: () => Follower;
  readonly filler: TokenFiller;
  readonly log: Logger;
  /** Pause between two polls of a chain without new blocks, in milliseconds. */
  readonly pollMs: number;
  /** Called with the error of a failed step, and with undefined after a step that succeeded. */
  readonly report: (error: Error | undefined) => Promise<void>;
  /** Called when this process starts and when it stops indexing the network. */
  readonly onLeading?: (leading: boolean) => void;
};

const longestPauseMs = 30_000;

/** The name of the advisory lock that guards the index of a network. */
export const indexLockName = (chainId: string) => `tallystick index ${chainId}`;

/**
 * Keeps the index of one network up to date while this process holds its advisory lock; until then it waits, and takes
 * over as soon as the holder is gone.
 */
export function createIndexRunner(options: RunnerOptions): IndexRunner {
  const { chainId, databaseUrl, log, pollMs } = options;

  const lead = async (signal: AbortSignal) => {
    const follower = options.createFollower();
    let failures = 0;
    let reported: Error | undefined | 'unknown' = 'unknown';
    const report = async (error: Error | undefined) => {
      if (reported === undefined && error === undefined) return;
      await options.report(error);
      reported = error;
    };
    while (!signal.aborted) {
      try {
        const step = await follower.step();
        // Token names matter near the head, where people look. While the index is behind, blocks come first.
        const more = step === 'idle' ? await options.filler.fill() : true;
        failures = 0;
        await report(undefined);
        if (!more) await pause(pollMs, signal);
      } catch (err) {
        failures += 1;
        const pauseMs = Math.min(pollMs * 2 ** Math.min(failures, 10), longestPauseMs);
        log.warn({ err, chainId, pauseMs }, 'indexing failed, trying again');
        // While the database is out, only the log has the error.
        await report(err instanceof Error ? err : new Error(String(err))).catch(() => {});
        await pause(pauseMs, signal);
      }
    }
  };

  return {
    async run(signal) {
      while (!signal.aborted) {
        const name = indexLockName(chainId);
        const lock = await acquireAdvisoryLock({ url: databaseUrl, name, log, signal }).catch(
          (err: unknown) => {
            if (!signal.aborted) log.warn({ err, chainId }, 'no lock for indexing');
            return undefined;
          },
        );
        if (lock === undefined) {
          await pause(pollMs, signal);
          continue;
        }
        log.info({ chainId }, 'indexing');
        options.onLeading?.(true);
        try {
          await lead(AbortSignal.any([signal, lock.lost]));
        } finally {
          options.onLeading?.(false);
          await lock.release();
        }
      }
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
