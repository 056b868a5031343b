/**
 * - `unreachable`: no connection, or it broke;
 * - `timeout`: no whole answer in time;
 * - `refused`: an HTTP status other than success, redirects included;
 * - `malformed`: what came is no JSON-RPC answer;
 * - `oversized`: the answer is larger than it may be;
 * - `wrong_chain`: the node serves another chain.
 */
export type FaultReason = 'unreachable' | 'timeout' | 'refused' | 'malformed' | 'oversized' | 'wrong_chain';

/** A node that gave no answer. Its message names no URL. */
export class NodeFault extends Error {
  readonly reason: FaultReason;

  constructor(reason: FaultReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'NodeFault';
    this.reason = reason;
  }
}

export type Attempt = { readonly url: string; readonly message: string };

/** None of a network's nodes gave an answer. URLs in it are redacted; the same call may succeed later. */
export class NodesUnavailableError extends Error {
  readonly chainId: string;
  readonly attempts: readonly Attempt[];
  readonly retryable = true;

  constructor(chainId: string, attempts: readonly Attempt[]) {
    const tried = attempts.map(({ url, message }) => `${url}: ${message}`).join('; ');
    super(`No node of network ${chainId} answered (${tried})`);
    this.name = 'NodesUnavailableError';
    this.chainId = chainId;
    this.attempts = attempts;
  }
}

/** A contract's answer is larger than any sensible one. It is the contract's doing, not the node's. */
export class OversizedAnswerError extends Error {
  constructor(method: string, cause: unknown) {
    super(`The answer to ${method} is too large`, { cause });
    this.name = 'OversizedAnswerError';
  }
}
