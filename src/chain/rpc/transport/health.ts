import type { Logger } from '../../../base/log.ts';
import type { FaultReason } from './node-fault.ts';

/** The health of one node: after each consecutive failure it is left alone for a longer pause. */
export type Health = {
  /** False from a failure until the node is known to work again. */
  healthy(): boolean;
  /** Time of the clock at which the pause of an unhealthy node ends. */
  retryAt(): number;
  /** Number of consecutive failures. Calls read it when they begin and pass it to `failed` when they fail. */
  failures(): number;
  /** Concurrent calls that fail count as one failure: only the first still finds the count that it began with. */
  failed(begun: number, reason: FaultReason, detail: string): void;
  /** @param proven whether a real request was answered; otherwise the count stays, and the next pause is longer */
  recovered(proven: boolean): void;
};

type HealthOptions = {
  /** The node's URL, fit for logs. */
  readonly label: string;
  readonly chainId: string;
  readonly log: Logger;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
};

const shortestPause = 1_000;
const longestPause = 60_000;

export function createHealth({ label, chainId, log, now }: HealthOptions): Health {
  const state = { healthy: true, failures: 0, retryAt: 0 };
  return {
    healthy: () => state.healthy,
    retryAt: () => state.retryAt,
    failures: () => state.failures,

    failed(begun, reason, detail) {
      if (begun !== state.failures) return;
      state.healthy = false;
      state.failures += 1;
      const pauseMs = reason === 'wrong_chain' ? longestPause : pauseAfter(state.failures);
      state.retryAt = now() + pauseMs;
      log.warn({ url: label, chainId, reason, detail, pauseMs }, 'node failed');
    },

    recovered(proven) {
      if (!state.healthy) log.info({ url: label, chainId }, 'node is back');
      state.healthy = true;
      if (proven) state.failures = 0;
    },
  };
}

/** The pause after this many consecutive failures, in milliseconds. */
export function pauseAfter(failures: number): number {
  return Math.min(shortestPause * 2 ** Math.min(failures - 1, 10), longestPause);
}
