import { setTimeout as wait } from 'node:timers/promises';
import { acquireLease } from '../../../db/lease.ts';
import type { Logger } from '../../../log.ts';
import type { TokenFiller } from '../tokens/token-filler.ts';
import type { Follower } from './follower.ts';

export type IndexRunner = {
  /** Resolves after the signal, when the step in progress has ended. */
  run(signal: AbortSignal): Promise<void>;
};

type RunnerOptions = {
  readonly chainId: string;
  /** A direct connection for the lease. */
  readonly databaseUrl: string;
  /** A fresh follower for each time that this process gets the network: it remembers nothing of before. */
  readonly createFollower: () => Follower;
  readonly filler: TokenFiller;
  readonly log: Logger;
  /** Between two looks at a chain that has nothing new. */
  readonly pollMs: number;
  /** Told why a try failed, and undefined after one that did not. */
  readonly report: (error: Error | undefined) => Promise<void>;
  /** Called when this process starts and stops to index the network. */
  readonly onLeading?: (leading: boolean) => void;
};

const longestPauseMs = 30_000;

/** The name of the lease under which a network is indexed. */
export const indexLease = (chainId: string) => `tallystick index ${chainId}`;

/**
 * Keeps the index of one network up to date for as long as this process holds its lease; until then it waits,
 * and takes over at once when the holder is gone.
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
        // Names are wanted where people look: near the head. While far behind, blocks come first.
        const more = step === 'idle' ? await options.filler.fill() : true;
        failures = 0;
        await report(undefined);
        if (!more) await pause(pollMs, signal);
      } catch (err) {
        failures += 1;
        const pauseMs = Math.min(pollMs * 2 ** Math.min(failures, 10), longestPauseMs);
        log.warn({ err, chainId, pauseMs }, 'indexing failed, trying again');
        // Where the database is out, the log alone tells.
        await report(err instanceof Error ? err : new Error(String(err))).catch(() => {});
        await pause(pauseMs, signal);
      }
    }
  };

  return {
    async run(signal) {
      while (!signal.aborted) {
        const name = indexLease(chainId);
        const lease = await acquireLease({ url: databaseUrl, name, log, signal }).catch((err: unknown) => {
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

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
