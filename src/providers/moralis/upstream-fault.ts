/**
 * - `unreachable`: no connection, or it broke;
 * - `timeout`: no whole answer in time;
 * - `refused`: an HTTP status other than 200, redirects included;
 * - `limited`: too many requests of our account;
 * - `silenced`: for the same reason nothing was asked, and the wait is longer than the caller's;
 * - `oversized`: the answer is larger than it may be;
 * - `malformed`: no JSON, or not what the contract needs.
 */
type FaultReason = 'unreachable' | 'timeout' | 'refused' | 'limited' | 'silenced' | 'oversized' | 'malformed';

type Details = {
  readonly status?: number;
  /** How long we were asked to wait before the next try, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
};

const passing: readonly FaultReason[] = ['unreachable', 'timeout', 'limited'];

/** The data provider gave no usable answer. Fit for the log: neither the account's key nor the answer is in it. */
export class UpstreamFault extends Error {
  readonly reason: FaultReason;
  /** Whether the same request may succeed in a moment. */
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
