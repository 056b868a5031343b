import { randomUUID } from 'node:crypto';
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type FixedCode, type ProblemError, problem } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { problemBody } from './problem.ts';

// What Node's parser and its timer say, where that is not simply broken HTTP.
const codesOfErrors: Readonly<Partial<Record<string, FixedCode>>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

// As long as a caller may go on sending after the answer; closed at once, the answer would be lost in a reset.
const lingerMs = 2_000;

/**
 * Answers what never becomes a request, because Node refuses it while it reads, with a problem too; Node's own
 * answer has no body. Each is one line of the log, and its connection ends.
 */
export function answerUnparsed(server: Server, log: Logger): void {
  const newest = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  server.on('request', (request, response) => newest.set(request.socket, response));

  const refuse = (socket: Duplex, found: ProblemError, requestId: string) => {
    refused.add(socket);
    socket.end(responseText(found, requestId));
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  const refuseAlone = (socket: Duplex, found: ProblemError) => {
    if (!socket.writable) return;
    const requestId = randomUUID();
    refuse(socket, found, requestId);
    log.info({ requestId, code: found.code, status: found.status }, 'request');
  };

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // What still comes after the answer is wrong as well, and read only to be thrown away.
    if (refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const found = problem(codesOfErrors[error.code ?? ''] ?? 'http_malformed', {}, { cause: error });
    const response = newest.get(socket);
    if (response === undefined || response.writableFinished) refuseAlone(socket, found);
    // What came before is whole and gets its own answer first.
    else if (response.req.complete) response.once('close', () => refuseAlone(socket, found));
    // Its body is what is broken. Without a socket of its own, it waits behind an answer that is being written.
    else if (response.headersSent || response.socket === null) socket.destroy();
    else refuse(socket, found, String(response.getHeader('x-request-id')));
  });
  // Node would close the connection without a word. It has given the socket away, errors and data included.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    refuseAlone(socket, problem('not_found'));
    socket.resume();
  });
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
