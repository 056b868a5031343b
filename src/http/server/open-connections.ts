import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What a connection is at. */
type OpenConnection = {
  /** Requests whose answer is not over. */
  answering: number;
  /** The answer to the last request, until it is over. */
  last: ServerResponse | undefined;
  /** Whether no request has come yet. */
  isUnused: boolean;
};

/** Gives what an open connection is at. */
export type OpenConnections = (socket: Duplex) => OpenConnection | undefined;

const connection = Symbol('connection');
type Answer = ServerResponse & { [connection]?: OpenConnection };

/**
 * Follows the connections of a server and their answers. No connection keeps anything of an answer that is over: with
 * thousands of idle ones, every collection of garbage would copy it all.
 */
export function followConnections(server: Server): OpenConnections {
  const open = new WeakMap<Duplex, OpenConnection>();
  server.on('connection', (socket) => open.set(socket, { answering: 0, last: undefined, isUnused: true }));
  server.on('request', ({ socket }, response: Answer) => {
    const at = open.get(socket);
    if (at === undefined) return;
    at.isUnused = false;
    at.answering += 1;
    at.last = response;
    response[connection] = at;
    response.on('close', endAnswer);
  });
  return (socket) => open.get(socket);
}

// One function for all: what closes over an answer costs as much as the rest of a short one.
function endAnswer(this: Answer): void {
  const at = this[connection];
  if (at === undefined) return;
  at.answering -= 1;
  if (at.last === this) at.last = undefined;
}
