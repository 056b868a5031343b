import type { Callee } from '../../outgoing/callee.ts';
import { type OutgoingAnswer, OutgoingFault } from '../../outgoing/outgoing-fault.ts';
import { UpstreamFault } from './upstream-fault.ts';

// An answer contains the metadata of a hundred NFTs three times, and some embed their pictures.
const maxBytes = 16 * 1_024 * 1_024;
// A request ends so long before the deadline of its call: then silence is a failure of the upstream, not a caller who left.
const headStartMs = 20;

type BoundedGetOptions = {
  readonly upstream: Callee;
  readonly apiKey: string;
  /** Timeout of one request, up to the last byte of its answer. */
  readonly timeoutMs: number;
  /** Milliseconds since 1970, for a `Retry-After` that is a date. */
  readonly now: () => number;
};

/**
 * Sends one GET to the upstream and reads its answer as JSON, within a time and a size.
 * @param leftMs how long it may take
 * @throws UpstreamFault
 */
export type BoundedGet = (url: string, leftMs: number) => Promise<unknown>;

export function createBoundedGet({ upstream, apiKey, timeoutMs, now }: BoundedGetOptions): BoundedGet {
  const headers = { accept: 'application/json', 'x-api-key': apiKey };
  return async (url, leftMs) => {
    const request = { method: 'GET', url: new URL(url), headers, maxBytes } as const;
    const mostMs = Math.max(1, leftMs - headStartMs);
    const within = { timeoutMs: Math.min(timeoutMs, mostMs), waitMs: leftMs };
    const answer = await upstream.send(request, within).catch((error: unknown) => {
      throw error instanceof OutgoingFault ? upstreamFault(error) : error;
    });
    if (answer.status !== 200) throw refusal(answer, now());
    return parseJson(answer.text);
  };
}

function upstreamFault(cause: OutgoingFault): UpstreamFault {
  const { reason, message, retryAfterMs } = cause;
  const text = reason === 'unreachable' ? `no answer: ${message}` : message;
  return new UpstreamFault(reason, text, { retryAfterMs, cause });
}

function refusal({ status, headers }: OutgoingAnswer, now: number): UpstreamFault {
  const retryAfterMs = readRetryAfter(headers['retry-after'], now);
  return status === 429
    ? new UpstreamFault('limited', 'the account is over its rate limit (429)', { status, retryAfterMs })
    : new UpstreamFault('refused', `HTTP status ${status}`, { status, retryAfterMs });
}

/** The delay of a `Retry-After` header in milliseconds; undefined when it is neither seconds nor a date. */
function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, so it is not kept as the cause.
    throw new UpstreamFault('malformed', 'the answer is not JSON');
  }
}
