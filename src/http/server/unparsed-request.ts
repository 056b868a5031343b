import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type FixedCode, type ProblemError, problem } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { CallerConnections } from './connections.ts';
import { problemBody } from './problem.ts';

// Node's error codes that mean something other than malformed HTTP.
const codesOfErrors: Readonly<Partial<Record<string, FixedCode>>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

// The caller may go on sending for this long after the answer. Closed at once, a reset would discard the answer.
const lingerMs = 2_000;

/**
 * Answers requests that Node's parser rejects with a problem, because Node's own answer has no body. Each gets one log
 * line, and its connection is closed.
 * @returns what does the same for a request that the parser lets pass, when its turn has come
 */
export function answerUnparsed(
  server: Server,
  connections: Pick<CallerConnections, 'last'>,
  log: Logger,
): (socket: Duplex) => void {
  const refused = new WeakSet<Duplex>();

  const sendAndClose = (socket: Duplex, found: ProblemError, requestId: string) => {
    refused.add(socket);
    socket.end(responseText(found, requestId));
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  const refuseOutsideRequest = (socket: Duplex, found: ProblemError) => {
    if (!socket.writable) return;
    const requestId = randomUUID();
    sendAndClose(socket, found, requestId);
    log.info({ requestId, code: found.code, status: found.status }, 'request');
  };

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Whatever follows the answer is read only to be discarded.
    if (refused.has(socket) || isOpenedAhead(error, socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const found = problem(codesOfErrors[error.code ?? ''] ?? 'http_malformed', {}, { cause: error });
    const response = connections.last(socket);
    if (response === undefined || response.writableFinished) refuseOutsideRequest(socket, found);
    // The previous request is complete and gets its own answer first.
    else if (response.req.complete) {
      refused.add(socket);
      response.once('close', () => refuseOutsideRequest(socket, found));
    }
    // The body of the current request is malformed. Without a socket, its response waits behind another response.
    else if (response.headersSent || response.socket === null) socket.destroy();
    else sendAndClose(socket, found, String(response.getHeader('X-Request-Id') ?? randomUUID()));
  });
  // Node would close the connection without an answer. It has handed the socket over, with its errors and data.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    refuseOutsideRequest(socket, problem('not_found'));
    socket.resume();
  });
  return (socket) => refuseOutsideRequest(socket, problem('http_malformed'));
}

/**
 * Whether it is only that nothing has come yet on a connection that was opened ahead of its first request. It may stay idle
 * as long as any other; a rejection would cross with the request.
 */
function isOpenedAhead({ code }: NodeJS.ErrnoException, socket: Duplex): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket instanceof Socket && socket.bytesRead === 0;
}

function responseText(found: ProblemError, requestId: string): string {
  const body = problemBody(found, requestId);
  return [
    `HTTP/1.1 ${found.status} ${STATUS_CODES[found.status]}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
