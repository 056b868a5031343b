import type { OutgoingReason } from '../../outgoing/outgoing-fault.ts';

/**
 * - `unreachable`: no connection, or it broke;
 * - `timeout`: no complete answer in time;
 * - `busy`: nothing was sent, because no turn came in time;
 * - `refused`: an HTTP status other than 200, redirects included;
 * - `limited`: the account has sent too many requests;
 * - `silenced`: nothing was sent for that reason, and the pause outlasts the caller's deadline;
 * - `oversized`: the answer exceeds its size limit;
 * - `shut`: nothing was sent, because the circuit breaker of the upstream is open;
 * - `malformed`: the answer is not JSON, or lacks what the contract needs.
 */
type FaultReason = OutgoingReason | 'refused' | 'limited' | 'silenced' | 'malformed';

type Details = {
  readonly status?: number;
  /** The delay before the next try, in milliseconds; undefined where it is not known. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
};

const passing: readonly FaultReason[] = ['unreachable', 'timeout', 'busy', 'limited'];

/** The upstream gave no usable answer. Safe for the log: it contains neither the account's key nor the answer. */
export class UpstreamFault extends Error {
  readonly reason: FaultReason;
  /** Whether the same request may succeed soon. */
  readonly isPassing: boolean;
  readonly retryAfterMs: number | undefined;
  /** HTTP status; 0 where there was none. */
  readonly status: number;

  constructor(reason: FaultReason, message: string, { status = 0, retryAfterMs, cause }: Details = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'UpstreamFault';
    this.reason = reason;
    this.status = status;
    this.isPassing = passing.includes(reason) || status === 408 || status >= 500;
    this.retryAfterMs = retryAfterMs;
  }
}
