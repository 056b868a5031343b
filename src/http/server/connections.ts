import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../../log.ts';
import { networkOf } from './network-of.ts';
import type { OpenConnections } from './open-connections.ts';
import { findSlowReaders, type ReadingPace } from './slow-readers.ts';

export type ConnectionLimits = ReadingPace & {
  /** Connections in all; more are closed at once. */
  readonly total: number;
  /** Connections of one IPv4 address, or IPv6 network; more are closed at once. */
  readonly perAddress: number;
  /** Requests of one connection that are not answered yet; one that pipelines more is closed. */
  readonly pipelined: number;
  /** What those of them that wait for their turn may take without their bodies, in characters; beyond it the connection is closed. */
  readonly pipelinedLength: number;
};

/**
 * Closes connections that hold more than their share: too many of them, too many requests in one, or a caller that reads
 * its answers too slowly. Node ends what a closed connection still had to answer.
 * @returns whether a connection had one request too many, so that it was closed; to be asked at each
 */
export function limitConnections(
  server: Server,
  connections: OpenConnections,
  limits: ConnectionLimits,
  log: Logger,
): (socket: Socket) => boolean {
  const perAddress = new Map<string, number>();
  const refuse = (socket: Socket, reason: string) => {
    log.debug({ reason }, 'connection closed');
    socket.destroy();
  };

  server.maxConnections = limits.total;
  server.on('connection', (socket: Socket) => {
    const address = networkOf(socket.remoteAddress ?? '');
    const count = (perAddress.get(address) ?? 0) + 1;
    perAddress.set(address, count);
    socket.once('close', () => {
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left > 0) perAddress.set(address, left);
      else perAddress.delete(address);
    });
    if (count > limits.perAddress) refuse(socket, 'too many of one address');
  });

  findSlowReaders(server, limits, (socket) => refuse(socket, 'the caller does not read'));

  server.setTimeout(limits.writeTimeoutMs, (socket: Socket) => {
    const open = connections.of(socket);
    // The answer takes its time: the caller is not to blame, or is found above.
    if (socket.writableLength > 0 || (open?.answering ?? 0) > 0) socket.setTimeout(limits.writeTimeoutMs);
    // Opened ahead of its first request, it may wait as long as between two requests.
    else if (open?.isUnused === true) {
      open.isUnused = false;
      socket.setTimeout(server.keepAliveTimeout);
    } else refuse(socket, 'idle');
  });

  return (socket) => {
    const { answering, waitingLength } = connections.of(socket) ?? { answering: 0, waitingLength: 0 };
    const isTooMany = answering > limits.pipelined || waitingLength > limits.pipelinedLength;
    if (isTooMany) refuse(socket, 'too many pipelined requests');
    return isTooMany;
  };
}
