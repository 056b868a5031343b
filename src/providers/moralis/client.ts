import { untilAborted } from '../../base/in-time.ts';
import { redactUrl } from '../../base/log.ts';
import { currentScope, inScope } from '../../base/request-scope.ts';
import { createSemaphore } from '../../base/semaphore.ts';
import type { Outgoing } from '../../outgoing/outgoing.ts';
import { createBoundedGet } from './bounded-get.ts';
import { type Clock, systemClock } from './clock.ts';
import { UpstreamFault } from './upstream-fault.ts';

export type MoralisClientOptions = {
  /** With the version in its path, for example `https://host/api/v2.2`. */
  readonly baseUrl: string;
  /** Without a key every request is rejected here. */
  readonly apiKey: string | undefined;
  /** Timeout of one request. */
  readonly timeoutMs: number;
  /** Time limit of a call with all its tries and its wait in the queue. */
  readonly deadlineMs: number;
  /** Greatest number of concurrent requests; the upstream limits the account as a whole. */
  readonly concurrency: number;
  readonly outgoing: Outgoing;
  /** Called after each request with the number of the try, from 1, and its outcome. */
  readonly onTry?: (outcome: string) => void;
  readonly clock?: Clock;
  /** From 0 to 1. */
  readonly random?: () => number;
};

export type MoralisClient = {
  /**
   * The JSON answer to a GET of this path, not validated. It ends with the request that it is made for.
   * @throws UpstreamFault of the last try; the reason of that request's signal
   */
  get(path: string, query: Readonly<Record<string, string>>): Promise<unknown>;
};

type Deadline = {
  readonly endsAt: number;
  /** Aborts then, and when the asker has gone. */
  readonly signal: AbortSignal;
  readonly asker: AbortSignal | undefined;
  readonly company: string;
};

const maxTries = 4;
const firstPauseMs = 500;
// Bounds the pause when a `Retry-After` is mistaken.
const maxQuietMs = 5 * 60_000;

/** A client of the upstream for one account: limits concurrency, and retries within the deadline. */
export function createMoralisClient(options: MoralisClientOptions): MoralisClient {
  const { deadlineMs, concurrency, outgoing, clock = systemClock, random = Math.random, onTry } = options;
  const base = options.baseUrl.replace(/\/+$/, '');
  const upstream = outgoing.open({
    kind: 'upstream',
    label: redactUrl(base),
    maxConcurrent: concurrency,
  });
  const boundedGet = createBoundedGet({
    ...options,
    upstream,
    apiKey: options.apiKey ?? '',
    now: clock.date,
  });
  // A company that asks for much waits behind itself. The deadline ends the waiting.
  const places = createSemaphore({ places: concurrency, waitMs: 2 * deadlineMs });
  // Until then the whole account is over its limit, and further requests would prolong that.
  let quietUntil = Number.NEGATIVE_INFINITY;

  const untilAllowed = async ({ endsAt, signal }: Deadline) => {
    for (let quiet = quietUntil - clock.now(); quiet > 0; quiet = quietUntil - clock.now()) {
      if (quietUntil >= endsAt) throw silenced(quiet);
      await clock.wait(quiet, signal);
    }
    signal.throwIfAborted();
  };

  const ask = async (url: string, deadline: Deadline): Promise<unknown> => {
    for (;;) {
      await untilAllowed(deadline);
      const release = await places.take(deadline.company, deadline);
      try {
        // The account may have got over its limit while this one waited for its turn.
        if (quietUntil > clock.now()) continue;
        return await boundedGet(url, Math.max(1, deadline.endsAt - clock.now()));
      } finally {
        release();
      }
    }
  };

  const pauseAfter = ({ reason, retryAfterMs = 0 }: UpstreamFault, tries: number): number => {
    // Full jitter: callers that failed together should not retry together.
    const pause = retryAfterMs + Math.ceil(random() * firstPauseMs * 2 ** (tries - 1));
    if (reason === 'limited') quietUntil = Math.max(quietUntil, clock.now() + Math.min(pause, maxQuietMs));
    return pause;
  };

  const tryFrom = async (tries: number, url: string, deadline: Deadline): Promise<unknown> => {
    try {
      const answer = await untilAborted(ask(url, deadline), deadline.signal);
      onTry?.('2xx');
      return answer;
    } catch (error) {
      const fault = faultOf(error, deadline);
      onTry?.(fault.status === 0 ? fault.reason : `${String(fault.status)[0]}xx`);
      const pause = fault.isPassing ? pauseAfter(fault, tries) : Number.POSITIVE_INFINITY;
      if (tries === maxTries || clock.now() + pause >= deadline.endsAt) throw fault;
      await clock.wait(pause, deadline.signal).catch((cause: unknown) => {
        throw faultOf(cause, deadline);
      });
      return tryFrom(tries + 1, url, deadline);
    }
  };

  return {
    async get(path, query) {
      if (options.apiKey === undefined) throw new UpstreamFault('refused', 'MORALIS_API_KEY is not set');
      const scope = currentScope();
      scope?.onAway?.();
      const { signal: asker, tenant: company = '' } = scope ?? {};
      const late = AbortSignal.timeout(deadlineMs);
      const signal = asker === undefined ? late : AbortSignal.any([late, asker]);
      const deadline = { endsAt: clock.now() + deadlineMs, signal, asker, company };
      const url = `${base}${path}?${new URLSearchParams(query)}`;
      // The deadline also ends the exchange that is under way.
      const within = { ...scope, isRead: true, signal };
      return inScope(within, () => tryFrom(1, url, deadline));
    },
  };
}

const silenced = (quietMs: number) =>
  new UpstreamFault('silenced', `the account must wait ${quietMs} ms`, { retryAfterMs: quietMs });

/** @throws what is no fault of the upstream, such as that the asker has gone */
function faultOf(error: unknown, { signal, asker }: Deadline): UpstreamFault {
  asker?.throwIfAborted();
  if (error instanceof UpstreamFault) return error;
  if (!signal.aborted) throw error;
  return new UpstreamFault('timeout', 'no answer before the deadline', { cause: error });
}
