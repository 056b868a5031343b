import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from '../../contract/operation.ts';
import { isForBrowsers } from '../../contract/scopes.ts';

/** Which pages may call operations from a browser (CORS), and how. */
type Opening = {
  /** `*` for pages of any origin, only for operations that need no cookie and no key: the server of a page may do as much. */
  readonly origins: ReadonlySet<string> | '*';
  readonly method: 'GET' | 'POST';
  /** Headers that a page may send. */
  readonly sent: string;
  /** Headers of answers that a page may read. */
  readonly read: string;
};

export const claimPages: Opening = {
  origins: '*',
  method: 'POST',
  sent: 'content-type, x-request-id',
  read: 'Retry-After, X-Request-Id',
};

/** For pages of named origins, with a key for browsers. */
export const chainPages = (origins: readonly string[]): Opening => ({
  origins: new Set(origins),
  method: 'GET',
  sent: 'x-api-key, x-request-id',
  read: 'Age, Link, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Index-Block-Hash, X-Index-Block-Number, X-Index-Block-Time, X-Index-From-Block, X-Index-Skipped-Blocks, X-Index-Traces, X-Left-Out-Entries, X-Request-Id',
});

const allowed = 'Access-Control-Allow-Origin';
const preflightSeconds = '7200';

/**
 * Lets pages call the operations behind it. All other callers are answered as without it.
 * @param pace of the questions what a page may ask
 */
export const openToPages =
  (handler: RequestHandler, pace: RequestHandler, { origins, method, sent, read }: Opening): RequestHandler =>
  (request, response, next) => {
    const { origin, 'access-control-request-method': wanted } = request.headers;
    if (origins !== '*') {
      if (origins.size > 0) response.vary('Origin');
      if (origin === undefined || !origins.has(origin)) return handler(request, response, next);
    }
    response.set({ [allowed]: origins === '*' ? '*' : origin, 'Access-Control-Expose-Headers': read });
    if (request.method !== 'OPTIONS' || origin === undefined || wanted !== method) {
      return handler(request, response, next);
    }
    const preflight = {
      'Access-Control-Allow-Methods': method,
      'Access-Control-Allow-Headers': sent,
      'Access-Control-Max-Age': preflightSeconds,
    };
    return pace(request, response, () => response.status(204).set(preflight).end());
  };

/** Lets no page read what a key is answered that is not for browsers. Rejections of unknown keys stay readable. */
export function closeToPages({ headers: { origin } }: Request, response: Response, caller: Caller): void {
  if (origin !== undefined && !isForBrowsers(caller)) response.removeHeader(allowed);
}
