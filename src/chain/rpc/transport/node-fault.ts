import { OutgoingFault } from '../../../outgoing/outgoing-fault.ts';

/**
 * - `unreachable`: no connection, or it broke;
 * - `timeout`: no complete answer in time;
 * - `refused`: an HTTP status other than success, redirects included, or an error where every node answers;
 * - `limited`: the node is asked too much, and says so by HTTP status 429 or by the code of its error;
 * - `malformed`: the answer is not valid JSON-RPC, has more values than any of its size, or a result that is none of its method;
 * - `oversized`: the answer exceeds its size limit;
 * - `overfull`: receipts or traces of a block exceed that, or have more values. That says nothing of the node;
 * - `wrong_chain`: the node serves another chain;
 * - `shut`: it was not asked, because its circuit breaker is open. That says nothing new about it;
 * - `busy`: nor because too much else is asked of it by this process.
 */
export type FaultReason =
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'limited'
  | 'malformed'
  | 'oversized'
  | 'overfull'
  | 'wrong_chain'
  | 'shut'
  | 'busy';

/** A node gave no valid answer. The message contains no URL. */
export class NodeFault extends Error {
  readonly reason: FaultReason;
  /** When it may be asked again, in milliseconds from then; only where that is known. */
  readonly retryAfterMs: number | undefined;
  /** Of HTTP; only where that is the fault. */
  readonly status: number | undefined;

  constructor(reason: FaultReason, message: string, cause?: unknown, status?: number) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'NodeFault';
    this.reason = reason;
    this.status = status;
    this.retryAfterMs = cause instanceof OutgoingFault ? cause.retryAfterMs : undefined;
  }
}

/** The fault of a node that a call of it failed with; any other error as it is. */
export function asNodeFault(error: unknown): unknown {
  return error instanceof OutgoingFault ? new NodeFault(error.reason, error.message, error) : error;
}

export type NodeAttempt = {
  readonly url: string;
  readonly message: string;
  /** When the node may be asked again, in milliseconds from then; only where that is known. */
  readonly retryAfterMs?: number | undefined;
  readonly reason?: FaultReason | undefined;
  /** Of HTTP, where that is the fault. */
  readonly status?: number | undefined;
  /** Of the JSON-RPC error with which the node answered; undefined where it did not. */
  readonly code?: number | undefined;
};

/** None of a network's nodes gave an answer. Its URLs are redacted; the same call may succeed later. */
export class NodesUnavailableError extends Error {
  readonly chainId: string;
  readonly attempts: readonly NodeAttempt[];
  readonly retryable = true;
  /** Whether none was asked, because too much else is by this process. */
  readonly isOwn: boolean;
  /** When the first of them may be asked again; undefined where that is not known. */
  readonly retryAfterMs: number | undefined;

  constructor(chainId: string, attempts: readonly NodeAttempt[]) {
    const tried = attempts.map(({ url, message }) => `${url}: ${message}`).join('; ');
    super(`No node of network ${chainId} answered (${tried})`);
    this.name = 'NodesUnavailableError';
    this.chainId = chainId;
    this.attempts = attempts;
    this.isOwn = attempts.length > 0 && attempts.every(({ reason }) => reason === 'busy');
    const known = attempts.flatMap(({ retryAfterMs = [] }) => retryAfterMs);
    this.retryAfterMs = known.length === 0 ? undefined : Math.min(...known);
  }
}

/** A contract returned more than the client accepts. The contract is to blame, not the node. */
export class OversizedAnswerError extends Error {
  constructor(method: string, cause: unknown) {
    super(`The answer to ${method} is too large`, { cause });
    this.name = 'OversizedAnswerError';
  }
}
