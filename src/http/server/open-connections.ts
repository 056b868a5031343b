import type { IncomingMessage, Server, ServerResponse } from 'node:http';
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

export type OpenConnections = {
  /** What an open connection is at. */
  of(socket: Duplex): OpenConnection | undefined;
  /** To be called for each request that is answered. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** To be called when an answer is over. */
  end(response: ServerResponse): void;
};

const connection = Symbol('connection');
type Answer = ServerResponse & { [connection]?: OpenConnection };

/**
 * Follows the connections of a server and their answers. No connection keeps anything of an answer that is over: with
 * thousands of idle ones, every collection of garbage would copy it all.
 */
export function followConnections(server: Server): OpenConnections {
  const open = new WeakMap<Duplex, OpenConnection>();
  server.on('connection', (socket) => open.set(socket, { answering: 0, last: undefined, isUnused: true }));
  return {
    of: (socket) => open.get(socket),
    begin({ socket }, response: Answer) {
      const at = open.get(socket);
      if (at === undefined) return;
      at.isUnused = false;
      at.answering += 1;
      at.last = response;
      response[connection] = at;
    },
    end(response: Answer) {
      const at = response[connection];
      if (at === undefined) return;
      at.answering -= 1;
      if (at.last === response) at.last = undefined;
    },
  };
}
