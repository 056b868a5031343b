import { problem } from '../../base/errors.ts';
import { CallerGoneError, type Ending, type OnEnd, type RequestScope } from '../../base/request-scope.ts';
import type { Span } from '../../base/span.ts';
import type { Exchange } from './exchange.ts';

type CallerScope = RequestScope & {
  /** Ends the deadline: the answer is made, and goes at the pace of the caller. */
  settle(): void;
};

type ScopeOptions = {
  /** Time without an answer. */
  readonly deadlineMs: number;
  /** Called when the work ends before it is settled. */
  readonly onEnd: (reason: Error) => void;
  /** Of the request; undefined without traces. */
  readonly span?: Span | undefined;
};

/** The scope of a request: its work ends when the caller closes the connection, or at the deadline. */
export function openScope(
  { request, response, facts }: Exchange,
  { deadlineMs, onEnd, span }: ScopeOptions,
): CallerScope {
  const work = new CallerWork(request.method === 'GET', facts, span);
  const end = (reason: Error) => {
    work.end(reason);
    onEnd(reason);
  };
  const late = () => new Error(`no answer was made within ${deadlineMs} ms`);
  work.expectBy(deadlineMs, () => end(problem('service_unavailable', {}, { cause: late() })));
  response.once('close', () => {
    work.settle();
    if (!response.writableFinished) end(new CallerGoneError());
  });
  return work;
}

/** When an answer must be made, and what ends the work otherwise. */
type Deadline = { readonly ms: number; readonly expire: () => void; readonly timer: NodeJS.Timeout };

/**
 * The scope of the work for a request, with a signal that is made on demand: answers from memory need none. Once the
 * scope is settled it keeps nothing of the request, which would outlive the young generation with it: collections of
 * garbage then take a third of all time.
 */
class CallerWork implements CallerScope, Ending {
  tenant?: string;
  onAway?: () => void;
  onBack?: () => Promise<void>;
  onIdle?: () => void;
  readonly isRead: boolean;
  readonly facts: Exchange['facts'];
  span: Span | undefined;
  #controller: AbortController | undefined;
  #listeners: Set<OnEnd> | undefined;
  #deadline: Deadline | undefined;
  reason: Error | undefined;

  constructor(isRead: boolean, facts: Exchange['facts'], span: Span | undefined) {
    this.isRead = isRead;
    this.facts = facts;
    this.span = span;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.reason !== undefined) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  get ending(): Ending {
    return this;
  }

  expectBy(ms: number, expire: () => void): void {
    this.#deadline = { ms, expire, timer: setTimeout(expire, ms) };
  }

  allowMore(ms: number): void {
    if (this.#deadline === undefined) return;
    const { expire, timer, ms: usual } = this.#deadline;
    clearTimeout(timer);
    this.#deadline = { expire, ms: usual, timer: setTimeout(expire, usual + ms) };
  }

  settle(): void {
    clearTimeout(this.#deadline?.timer);
    this.#deadline = undefined;
  }

  watch(listener: OnEnd): () => void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }

  end(reason: Error): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners ?? []) listener(reason);
  }
}
