import { problem } from '../../errors.ts';
import { CallerGoneError, type RequestScope } from '../../request-scope.ts';
import type { Exchange } from './exchange.ts';

type CallerScope = {
  readonly scope: RequestScope;
  /** Ends the deadline: the answer is made, and goes at the pace of the caller. */
  settle(): void;
};

/** The scope of a request: its work ends when the caller closes the connection, or after this time without an answer. */
export function openScope({ request, response, facts }: Exchange, deadlineMs: number): CallerScope {
  const end = new AbortController();
  const late = () => new Error(`no answer was made within ${deadlineMs} ms`);
  const deadline = setTimeout(() => {
    end.abort(problem('service_unavailable', {}, { cause: late() }));
  }, deadlineMs);
  response.once('close', () => {
    clearTimeout(deadline);
    if (!response.writableFinished) end.abort(new CallerGoneError());
  });
  return {
    scope: { signal: end.signal, isRead: request.method === 'GET', facts },
    settle: () => clearTimeout(deadline),
  };
}
