import type { ServerResponse } from 'node:http';
import type { AnyReply } from '../../contract/operation.ts';

/**
 * Writes what a handler answered. Company data must not stay in caches, so `no-store` is the default; a
 * handler that says otherwise is heard.
 */
export function sendReply(response: ServerResponse, { status, headers, body }: AnyReply): void {
  // Made first: if it fails, nothing has been sent yet.
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
