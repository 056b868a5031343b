/**
 * - `unreachable`: no connection, or it broke;
 * - `timeout`: no complete answer in time;
 * - `refused`: an HTTP status other than success, redirects included;
 * - `malformed`: the answer is not valid JSON-RPC;
 * - `oversized`: the answer exceeds its size limit;
 * - `wrong_chain`: the node serves another chain.
 */
export type FaultReason = 'unreachable' | 'timeout' | 'refused' | 'malformed' | 'oversized' | 'wrong_chain';

/** A node gave no valid answer. The message contains no URL. */
export class NodeFault extends Error {
  readonly reason: FaultReason;

  constructor(reason: FaultReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'NodeFault';
    this.reason = reason;
  }
}

export type Attempt = { readonly url: string; readonly message: string };

/** None of a network's nodes gave an answer. Its URLs are redacted; the same call may succeed later. */
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

/** A contract returned more than the client accepts. The contract is to blame, not the node. */
export class OversizedAnswerError extends Error {
  constructor(method: string, cause: unknown) {
    super(`The answer to ${method} is too large`, { cause });
    this.name = 'OversizedAnswerError';
  }
}
