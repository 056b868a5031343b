import type { IncomingHttpHeaders } from 'node:http';

/**
 * - `unreachable`: no connection, or it broke;
 * - `timeout`: no whole answer in time;
 * - `busy`: nothing was sent, because no turn came in time. That says nothing of the callee;
 * - `oversized`: the answer exceeds its size limit;
 * - `shut`: nothing was sent, because the circuit breaker of the callee is open.
 */
export type OutgoingReason = 'unreachable' | 'timeout' | 'busy' | 'oversized' | 'shut';

type Details = { readonly cause?: unknown; readonly retryAfterMs?: number };

/** A call got no whole answer. Safe for the log: it contains nothing of the question, its URL or the answer. */
export class OutgoingFault extends Error {
  readonly reason: OutgoingReason;
  /** When a call may be let through again, in milliseconds from then; only where that is known. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: OutgoingReason, message: string, { cause, retryAfterMs }: Details = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'OutgoingFault';
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What a callee answered over HTTP. */
export type OutgoingAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty where the status is none whose body was wanted. */
  readonly text: string;
};
