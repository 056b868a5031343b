import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../../log.ts';
import type { OpenConnections } from './open-connections.ts';

export type ConnectionLimits = {
  /** Connections in all; more are closed at once. */
  readonly total: number;
  /** Connections of one address; more are closed at once. */
  readonly perAddress: number;
  /** Requests of one connection that are not answered yet; one that pipelines more is closed. */
  readonly pipelined: number;
  /** Milliseconds in which a caller must take some of what is written to it, or be closed. */
  readonly writeTimeoutMs: number;
};

/**
 * Closes connections that hold more than their share: too many of them, too many requests in one, or a caller that does
 * not read its answers. Node ends what a closed connection still had to answer.
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
    const address = socket.remoteAddress ?? '';
    const count = (perAddress.get(address) ?? 0) + 1;
    perAddress.set(address, count);
    socket.once('close', () => {
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left > 0) perAddress.set(address, left);
      else perAddress.delete(address);
    });
    if (count > limits.perAddress) refuse(socket, 'too many of one address');
  });

  // Node takes the beginning of a write for progress, so who takes nothing is found at the second look.
  const lookMs = limits.writeTimeoutMs / 2;
  server.setTimeout(lookMs, (socket: Socket) => {
    const isBlocked = socket.writableLength > 0;
    const open = connections.of(socket);
    if (isBlocked) refuse(socket, 'the caller does not read');
    // The answer takes its time: the caller is not to blame.
    else if (open !== undefined && open.answering > 0) socket.setTimeout(lookMs);
    // Opened ahead of its first request, it may wait as long as between two requests.
    else if (open?.isUnused === true) {
      open.isUnused = false;
      socket.setTimeout(server.keepAliveTimeout);
    } else refuse(socket, 'idle');
  });

  return (socket) => {
    const isTooMany = (connections.of(socket)?.answering ?? 0) > limits.pipelined;
    if (isTooMany) refuse(socket, 'too many pipelined requests');
    return isTooMany;
  };
}
