import { readText } from '../../read-text.ts';
import { UpstreamFault } from './upstream-fault.ts';

// An answer contains the metadata of a hundred NFTs three times, and some embed their pictures.
const maxAnswerBytes = 16 * 1_024 * 1_024;

type BoundedGetOptions = {
  readonly apiKey: string;
  /** Timeout of one request, up to the last byte of its answer. */
  readonly timeoutMs: number;
  /** Milliseconds since 1970, for a `Retry-After` that is a date. */
  readonly now: () => number;
};

/**
 * Sends one GET to the upstream and reads its answer as JSON, within a time and a size. Connections are kept;
 * redirects are not followed.
 * @throws UpstreamFault
 */
export type BoundedGet = (url: string, signal: AbortSignal) => Promise<unknown>;

export function createBoundedGet({ apiKey, timeoutMs, now }: BoundedGetOptions): BoundedGet {
  const headers = { accept: 'application/json', 'x-api-key': apiKey };
  return async (url, signal) => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      // A redirect would send the account's key to a host that nobody configured.
      const response = await fetch(url, { headers, redirect: 'manual', signal: limited });
      if (response.status === 200) return parseJson(await readText(response.body, maxAnswerBytes, oversized));
      await response.body?.cancel();
      throw refusal(response, now());
    } catch (cause) {
      if (cause instanceof UpstreamFault) throw cause;
      if (limited.aborted) throw new UpstreamFault('timeout', 'no whole answer in time', { cause });
      throw new UpstreamFault('unreachable', `no answer: ${reasonOf(cause)}`, { cause });
    }
  };
}

function refusal({ status, headers }: Response, now: number): UpstreamFault {
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now);
  return status === 429
    ? new UpstreamFault('limited', 'the account is over its rate limit (429)', { status, retryAfterMs })
    : new UpstreamFault('refused', `HTTP status ${status}`, { status, retryAfterMs });
}

/** The delay of a `Retry-After` header in milliseconds; undefined when it is neither seconds nor a date. */
function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

const oversized = () => new UpstreamFault('oversized', `the answer is over ${maxAnswerBytes} bytes`);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, so it is not kept as the cause.
    throw new UpstreamFault('malformed', 'the answer is not JSON');
  }
}

/** The reason that fetch hides behind "fetch failed". */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return 'connection failed';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}
