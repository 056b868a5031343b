import { AsyncLocalStorage } from 'node:async_hooks';
import { withoutTransaction } from './open-transaction.ts';
import type { Span } from './span.ts';

/** On whose behalf work is done, and for how long it is of use. */
export type RequestScope = {
  /** Whose share of the process and its database the work takes; undefined until the caller is known. */
  tenant?: string;
  /** Called when the work waits for somebody outside of the process and its database, or for work that others share. */
  onAway?: () => void;
  /** Called before each transaction. Rejects when the work gets no place after it was away. */
  onBack?: () => Promise<void>;
  /** Aborts when the caller has gone, or when the time for its answer is up. Its reason is what the work rejects with. */
  readonly signal: AbortSignal;
  /** Called when the work waits for something to happen, and its answer may be large, but is not made before. */
  onIdle?: () => void;
  /** Gives the answer this much more time, in milliseconds, from now on. */
  allowMore?: (ms: number) => void;
  /** Says the same as the signal, where a signal is made on demand only. */
  readonly ending?: Ending | undefined;
  /** What log lines of the work name: a request with its company, or jobs. */
  readonly facts?: Readonly<object>;
  /** What the work is in a trace; undefined without traces, and until it is known whose trace a request belongs to. */
  span?: Span | undefined;
  /** Whether what runs may be stopped half-way. Work that changes something is only not begun. */
  readonly isRead: boolean;
};

export type Ending = {
  /** Why the work has ended; undefined before. */
  readonly reason: Error | undefined;
  /** Calls the listener at the end, with the reason. @returns what forgets it */
  watch(listener: OnEnd): () => void;
};
export type OnEnd = (reason: unknown) => void;

/** The caller has closed its connection, so nobody waits for the work any more. */
export class CallerGoneError extends Error {
  constructor() {
    super('The caller has gone.');
    this.name = 'CallerGoneError';
  }
}

// Passed on by the runtime: work that a request causes is reached through drivers that know nothing of requests.
const scopes = new AsyncLocalStorage<RequestScope | undefined>();

/** Runs work on behalf of a request. */
export function inScope<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** What the present work belongs to; undefined in the background. */
export function currentScope(): RequestScope | undefined {
  return scopes.getStore();
}

type Ends = Pick<RequestScope, 'signal' | 'ending'>;

/** Why the work has ended; undefined before. */
function reasonOfEnd(scope: Ends): unknown {
  // A signal is made on demand.
  return scope.ending === undefined ? scope.signal.reason : scope.ending.reason;
}

/** @throws the reason why the work has ended, if it has */
export function throwIfEnded(scope: Ends): void {
  const reason = reasonOfEnd(scope);
  if (reason !== undefined) throw reason;
}

/** Calls the listener when the work ends, or soon if it has ended, with the reason. @returns what forgets it */
export function watchEnd(scope: Ends, listener: OnEnd): () => void {
  const reason = reasonOfEnd(scope);
  if (reason !== undefined) return tellSoon(reason, listener);
  if (scope.ending !== undefined) return scope.ending.watch(listener);
  const { signal } = scope;
  const onAbort = () => listener(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** Not at once: the listener may need what its watcher has not finished yet. */
function tellSoon(reason: unknown, listener: OnEnd): () => void {
  let isWatched = true;
  queueMicrotask(() => {
    if (isWatched) listener(reason);
  });
  return () => {
    isWatched = false;
  };
}

/** Runs work that goes on whatever becomes of the present request, and takes nobody's share. */
export function inBackground<T>(work: () => T): T {
  return withoutTransaction(() => scopes.run(undefined, work));
}

/** Runs work on behalf of the caller of the present work. The work also ends with this signal. */
export function withEnd<T>(end: AbortSignal, work: () => T): T {
  const scope = scopes.getStore();
  const signal = scope === undefined ? end : AbortSignal.any([scope.signal, end]);
  return scopes.run({ isRead: true, ...scope, signal, ending: undefined }, work);
}

type SharedWork = {
  readonly signal?: AbortSignal;
  readonly isOfTenant: boolean;
  readonly span?: Span | undefined;
};

/**
 * Runs work that several requests share, so that no single caller who leaves ends it.
 * @param options.signal what ends it instead; nothing by default
 * @param options.isOfTenant whether all requests belong to the tenant of the present request. Otherwise the work takes
 *   nobody's share: others would wait for their turn behind it
 * @param options.span the span that the work belongs to; by default the span of the present request, which was the
 *   first to ask
 */
export function inSharedScope<T>(
  { signal = new AbortController().signal, isOfTenant, ...shared }: SharedWork,
  work: () => T,
): T {
  const asker = scopes.getStore()?.tenant;
  const who = isOfTenant && asker !== undefined ? { tenant: asker } : {};
  const span = 'span' in shared ? shared.span : scopes.getStore()?.span;
  return scopes.run({ ...who, isRead: false, signal, span }, work);
}
