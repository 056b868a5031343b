import type { RequestHandler } from 'express';

const method = 'POST';
const shared = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
};
const preflight = {
  'Access-Control-Allow-Methods': method,
  'Access-Control-Allow-Headers': 'content-type, x-request-id',
  'Access-Control-Max-Age': '7200',
};

/**
 * Lets pages of any origin call the operations behind it (CORS). Only for those that need no cookie and no key: what
 * a page may do, its server may do as well.
 * @param pace of the questions what a page may ask
 */
export const openToPages =
  (handler: RequestHandler, pace: RequestHandler): RequestHandler =>
  (request, response, next) => {
    response.set(shared);
    const { origin, 'access-control-request-method': wanted } = request.headers;
    if (request.method !== 'OPTIONS' || origin === undefined || wanted !== method) {
      return handler(request, response, next);
    }
    return pace(request, response, () => response.status(204).set(preflight).end());
  };
