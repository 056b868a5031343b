import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../base/log.ts';
import { networkOf } from './network-of.ts';
import { findSlowReaders, type ReadingPace } from './slow-readers.ts';

export type ConnectionLimits = ReadingPace & {
  /** Connections in all; more are closed at once. */
  readonly total: number;
  /** Connections of one IPv4 address, or IPv6 network; more are closed at once. */
  readonly perAddress: number;
  /** Whether the address belongs to a proxy, whose connections count only in all. */
  readonly isProxy: (address: string | undefined) => boolean;
  /** Requests of one connection that are not answered yet; one that pipelines more is closed. */
  readonly pipelined: number;
};

export type CallerConnections = {
  /**
   * Hands a request to `answer` when those before it on its connection are answered: what a caller does not read is not
   * made. Closes a connection that has sent too many.
   */
  begin(request: IncomingMessage, response: ServerResponse, answer: RequestListener): void;
  /** Returns the answer to the last request of a connection, until it is over. */
  last(socket: Duplex): ServerResponse | undefined;
};

/**
 * Follows the connections of a server, and closes connections that take more than their share: too many of one address,
 * too many requests in one, or a caller that reads its answers too slowly. Node ends what a closed connection still had
 * to answer.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, log: Logger): CallerConnections {
  /** Answers that are not over, of each open connection in the order of their requests. */
  const open = new Map<Duplex, ServerResponse[]>();
  const perAddress = new Map<string, number>();
  const close = (socket: Duplex, reason: string) => {
    log.debug({ reason }, 'connection closed');
    socket.destroy();
  };

  server.maxConnections = limits.total;
  server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress ?? '');
    const count = (perAddress.get(address) ?? 0) + 1;
    perAddress.set(address, count);
    open.set(socket, []);
    socket.once('close', () => {
      open.delete(socket);
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left > 0) perAddress.set(address, left);
      else perAddress.delete(address);
    });
    if (count > limits.perAddress && !limits.isProxy(socket.remoteAddress))
      close(socket, 'too many of one address');
  });

  // One that is answered takes its time; one that was opened ahead of its first request is as good as one between two.
  server.setTimeout(server.keepAliveTimeout, (socket) => {
    if ((open.get(socket)?.length ?? 0) === 0) close(socket, 'idle');
  });

  findSlowReaders(server, open, limits, (socket) => close(socket, 'the caller does not read'));

  return {
    begin(request, response, answer) {
      const { socket } = request;
      const answers = open.get(socket);
      if (answers === undefined) return;
      answers.push(response);
      response.once('close', () => {
        answers.shift();
        const [next] = answers;
        // Behind an answer that closes its connection, Node gives none of the others a socket.
        if (next !== undefined && socket.writable) answer(next.req, next);
        // A connection that becomes idle after the stop began would stay open until the grace period ends.
        if (!server.listening) setImmediate(() => server.closeIdleConnections());
      });
      if (answers.length > limits.pipelined) close(socket, 'too many pipelined requests');
      else if (answers.length === 1) answer(request, response);
    },
    last: (socket) => open.get(socket)?.at(-1),
  };
}
