import type { ServerResponse } from 'node:http';
import type { AnyReply } from '../../contract/operation.ts';

/**
 * Sends the reply of a handler. Caches must not keep company data, so `no-store` is the default; a header of the
 * handler overrides it.
 */
export function sendReply(response: ServerResponse, { status, headers, body }: AnyReply): void {
  // Serialized first: if that fails, nothing has been sent yet.
  const text = body === undefined ? undefined : JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Cache-Control', 'no-store');
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
  if (text === undefined) {
    response.end();
    return;
  }
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}
