import type { RequestHandler } from 'express';

const method = 'POST';
const preflight = {
  'Access-Control-Allow-Methods': method,
  'Access-Control-Allow-Headers': 'content-type, x-request-id',
  'Access-Control-Max-Age': '7200',
};

/**
 * Lets pages of any origin call the operations behind it (CORS). Only for those that need no cookie and no key: what
 * a page may do, its server may do as well.
 */
export const openToPages: RequestHandler = (request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id');
  const { origin, 'access-control-request-method': wanted } = request.headers;
  if (request.method !== 'OPTIONS' || origin === undefined || wanted !== method) return next();
  response.status(204).set(preflight).end();
};
