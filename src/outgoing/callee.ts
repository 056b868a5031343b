import { type BulkheadPolicy, bulkhead } from 'cockatiel';
import { untilAborted } from '../base/in-time.ts';
import { assertNoTransaction } from '../base/open-transaction.ts';
import { currentScope, inBackground } from '../base/request-scope.ts';
import { inChildSpan } from '../tracing/in-span.ts';
import { type Breaker, type BreakerState, createBreaker } from './breaker.ts';
import { createExchange, type OutgoingExchange, type OutgoingRequest } from './exchange.ts';
import { type OutgoingAnswer, OutgoingFault } from './outgoing-fault.ts';

/** Something outside of this process, by what it is for us. */
type CalleeKind = 'authentication' | 'upstream' | 'node' | 'metadata' | 'service' | 'webhook';

export type CalleeOptions = {
  readonly kind: CalleeKind;
  /** Which of its kind, as logs and metrics may show it; empty for one of many that strangers choose. */
  readonly label: string;
  /** Calls at once; further calls wait for their turn, in the order of asking. */
  readonly maxConcurrent: number;
  /** The lowest HTTP status that says the callee does not work; 500 by default, Infinity for none. */
  readonly failingStatus?: number;
  /** Connects to public addresses only, pinned to the checked addresses. */
  readonly isPublicOnly?: boolean;
  /**
   * Asks whether the callee works again, so that no caller has to wait for it. Without it the breaker tries with the
   * call of a caller.
   */
  readonly probe?: (signal: AbortSignal, exchange: OutgoingExchange) => Promise<unknown>;
};

type CallOptions = {
  /** From the turn to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Greatest wait for the turn; as long as the call itself by default. */
  readonly waitMs?: number;
  /** The subject of the question, as traces name it; it has few values. */
  readonly about?: string;
};

/** One callee with the common parts of its calls: deadline, turn, circuit breaker. */
export type Callee = {
  readonly kind: CalleeKind;
  readonly label: string;
  state(): BreakerState;
  /** Milliseconds since a call was last asked for, rejected calls included. */
  idleMs(): number;
  /**
   * Makes a call in its turn. It ends at its deadline, and with the request that it is made for.
   * @param work must end with its signal
   * @throws Error inside a transaction; OutgoingFault; what the work throws; the reason of the request's signal once that aborts
   */
  call<T>(work: (signal: AbortSignal) => Promise<T>, options: CallOptions): Promise<T>;
  /** Sends a request over HTTP by {@link call}. @throws the same, and ForbiddenHostError */
  send(request: OutgoingRequest, options: CallOptions): Promise<OutgoingAnswer>;
  /** Closes every connection of {@link send}. */
  close(): void;
};

type CalleeParts = {
  readonly onState: (state: BreakerState) => void;
  /** A monotonic clock in milliseconds, of the breaker. */
  readonly now: () => number;
  readonly onClose: () => void;
};

/** An answer whose status says that the callee does not work: a failure for the breaker, an answer for the caller. */
class FailingAnswer extends Error {
  readonly answer: OutgoingAnswer;

  constructor(answer: OutgoingAnswer) {
    super(`HTTP status ${answer.status}`);
    this.answer = answer;
  }
}

const isFailure = (error: unknown) =>
  error instanceof FailingAnswer ||
  (error instanceof OutgoingFault && (error.reason === 'timeout' || error.reason === 'unreachable'));

export function createCallee(options: CalleeOptions, { onState, now, onClose }: CalleeParts): Callee {
  const { kind, label, maxConcurrent, failingStatus = 500, isPublicOnly = false, probe } = options;
  const breaker = createBreaker({ isFailure, onState, now });
  const exchange = createExchange({
    maxSockets: maxConcurrent,
    isPublicOnly,
    // A request to a service of ours may change something.
    repeatsLost: kind !== 'service',
  });
  const places = bulkhead(maxConcurrent, Number.POSITIVE_INFINITY);
  let askedAt = now();
  const name = `${kind}${label === '' ? '' : ` ${label}`}`;
  const shut = () => shutFault(name, breaker);

  /** The call that decides for all while the breaker is open does not end with the caller who happens to make it. */
  const tryWith = <T>(work: Work<T>, timeoutMs: number): Promise<T> =>
    inBackground(() => breaker.run(() => withDeadline(work, timeoutMs, undefined)));

  const callOpen = <T>(work: Work<T>, timeoutMs: number, asker: AbortSignal | undefined): Promise<T> => {
    const refusal = shut();
    if (!breaker.admitsTrial()) throw refusal;
    if (probe === undefined) {
      const trial = tryWith(work, timeoutMs);
      return asker === undefined ? trial : untilAborted(trial, asker);
    }
    tryWith((signal) => probe(signal, exchange), timeoutMs).catch(() => {});
    throw refusal;
  };

  const ask: Callee['call'] = async (work, { timeoutMs, waitMs = timeoutMs }) => {
    assertNoTransaction(name);
    askedAt = now();
    const scope = currentScope();
    const asker = scope?.signal;
    asker?.throwIfAborted();
    scope?.onAway?.();
    if (breaker.state() !== 'closed') return callOpen(work, timeoutMs, asker);
    const attempt = async () => {
      // It may have opened since.
      if (breaker.state() !== 'closed') throw shut();
      return breaker.run(() => withDeadline(work, timeoutMs, asker));
    };
    return inTurn(places, attempt, { waitMs, asker });
  };

  const described = (about: string) => () => ({
    name: about,
    kind: 'client' as const,
    // The label is what logs and metrics show, too.
    facts: { 'tallystick.callee': kind, 'tallystick.callee.label': label },
  });
  // The server of metadata or the receiver of news is a stranger, and has no part in our traces.
  const isTold = kind !== 'metadata' && kind !== 'webhook';

  return {
    kind,
    label,
    state: breaker.state,
    idleMs: () => now() - askedAt,
    call: (work, options) => inChildSpan(described(options.about ?? kind), () => ask(work, options)),
    send: (request, within) =>
      inChildSpan(described(within.about ?? request.method), async (span) => {
        const sent =
          span && isTold
            ? { ...request, headers: { ...request.headers, traceparent: span.traceparent } }
            : request;
        const answer = await ask(async (signal) => {
          const found = await exchange.send(sent, signal);
          if (found.status >= failingStatus) throw new FailingAnswer(found);
          return found;
        }, within).catch((error: unknown) => {
          if (error instanceof FailingAnswer) return error.answer;
          throw error;
        });
        span?.tell({ 'http.response.status_code': answer.status });
        return answer;
      }),
    close() {
      exchange.close();
      onClose();
    },
  };
}

type Work<T> = (signal: AbortSignal) => Promise<T>;

type Turn = {
  /** Greatest wait for it. */
  readonly waitMs: number;
  /** A waiting call leaves with its request. */
  readonly asker: AbortSignal | undefined;
};

/** Runs work in its turn. A caller who has left gives the turn on unused. @throws OutgoingFault `busy`; what the work throws */
async function inTurn<T>(
  places: BulkheadPolicy,
  work: () => Promise<T>,
  { waitMs, asker }: Turn,
): Promise<T> {
  const wait = new AbortController();
  const late = () => wait.abort(new OutgoingFault('busy', `no turn to ask within ${waitMs} ms`));
  const timer = setTimeout(late, waitMs);
  const leave = () => wait.abort(asker?.reason);
  asker?.addEventListener('abort', leave, { once: true });
  const begun = Promise.withResolvers<void>();
  const end = () => {
    clearTimeout(timer);
    asker?.removeEventListener('abort', leave);
  };
  const done = places.execute(async () => {
    wait.signal.throwIfAborted();
    end();
    begun.resolve();
    return work();
  });
  done.catch(begun.reject);
  try {
    await untilAborted(begun.promise, wait.signal);
  } finally {
    end();
  }
  return done;
}

/** A controller of its own with a timer: `AbortSignal.any` and `timeout` cost a tenth of a call. */
async function withDeadline<T>(work: Work<T>, timeoutMs: number, asker: AbortSignal | undefined): Promise<T> {
  asker?.throwIfAborted();
  const end = new AbortController();
  let late: OutgoingFault | undefined;
  const timer = setTimeout(() => {
    late = new OutgoingFault('timeout', `no answer within ${timeoutMs} ms`);
    // Work must distinguish a callee that is silent from a caller that has gone.
    end.abort(late);
  }, timeoutMs);
  const onAbort = () => end.abort(asker?.reason);
  asker?.addEventListener('abort', onAbort, { once: true });
  try {
    // The work ends with the signal. Where it does not, nobody waits for it any longer.
    return await untilAborted(work(end.signal), end.signal);
  } catch (error) {
    if (error instanceof OutgoingFault) throw error;
    // The callee is not to blame.
    asker?.throwIfAborted();
    throw late ?? error;
  } finally {
    clearTimeout(timer);
    asker?.removeEventListener('abort', onAbort);
  }
}

function shutFault(name: string, breaker: Breaker): OutgoingFault {
  const retryAfterMs = breaker.pauseMs();
  const when = retryAfterMs > 0 ? `it is tried again in ${Math.ceil(retryAfterMs)} ms` : 'it is being tried';
  return new OutgoingFault('shut', `not asked: the circuit breaker of ${name} is open, ${when}`, {
    retryAfterMs,
  });
}
