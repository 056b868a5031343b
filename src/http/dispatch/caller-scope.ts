import { problem } from '../../errors.ts';
import { CallerGoneError, type RequestScope } from '../../request-scope.ts';
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
};

/** The scope of a request: its work ends when the caller closes the connection, or at the deadline. */
export function openScope(
  { request, response, facts }: Exchange,
  { deadlineMs, onEnd }: ScopeOptions,
): CallerScope {
  // Made for those who ask: what is answered from memory does not.
  let controller: AbortController | undefined;
  let ended: Error | undefined;
  const end = (reason: Error) => {
    ended ??= reason;
    controller?.abort(reason);
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
  return {
    scope: {
      get signal() {
        if (controller === undefined) {
          controller = new AbortController();
          if (ended !== undefined) controller.abort(ended);
        }
        return controller.signal;
      },
      isRead: request.method === 'GET',
      facts,
    },
    settle: () => clearTimeout(deadline),
  };
}
