import type { Logger } from '../../log.ts';
import type { FaultReason } from './node-fault.ts';

/** What we think of one node: it rests for a growing time after each failure in a row. */
export type Health = {
  /** False from a failure until the node is found well again. */
  healthy(): boolean;
  /** Time of the clock before which a sick node is left alone. */
  retryAt(): number;
  /** Failures in a row. Calls note it when they begin, and give it back when they fail. */
  failures(): number;
  /** Calls that fail together are one failure: only the first finds the count that it began with. */
  failed(begun: number, reason: FaultReason, detail: string): void;
  /** @param proven a real answer; without it the failures stay counted, and the next pause is longer still */
  recovered(proven: boolean): void;
};

type HealthOptions = {
  /** The node's URL, fit for logs. */
  readonly label: string;
  readonly chainId: string;
  readonly log: Logger;
  /** Milliseconds that only grow. */
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

function pauseAfter(failures: number): number {
  return Math.min(shortestPause * 2 ** Math.min(failures - 1, 10), longestPause);
}
