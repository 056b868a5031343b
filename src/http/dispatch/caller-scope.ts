import { problem } from '../../errors.ts';
import { CallerGoneError, type RequestScope } from '../../request-scope.ts';
import type { Span } from '../../tracing/span.ts';
import type { Exchange } from './exchange.ts';

type CallerScope = {
  readonly scope: RequestScope;
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
  const work = createWork(request.method === 'GET', facts, span);
  const end = (reason: Error) => {
    work.end(reason);
    onEnd(reason);
  };
  const late = () => new Error(`no answer was made within ${deadlineMs} ms`);
  const deadline = setTimeout(() => {
    end(problem('service_unavailable', {}, { cause: late() }));
  }, deadlineMs);
  response.on('close', () => {
    clearTimeout(deadline);
    if (!response.writableFinished) end(new CallerGoneError());
  });
  return { scope: work.scope, settle: () => clearTimeout(deadline) };
}

/**
 * The scope, with a signal that is made for those who ask: what is answered from memory does not. Its functions close
 * over nothing of the request, which would outlive the young generation with it.
 */
function createWork(isRead: boolean, facts: Exchange['facts'], span: Span | undefined) {
  let controller: AbortController | undefined;
  let ended: Error | undefined;
  const scope: RequestScope = {
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (ended !== undefined) controller.abort(ended);
      }
      return controller.signal;
    },
    isRead,
    facts,
    span,
  };
  return {
    scope,
    end(reason: Error) {
      ended ??= reason;
      controller?.abort(reason);
    },
  };
}
