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
  /** Answers that wait for their turn; undefined where the caller does not send requests ahead. */
  waiting: ServerResponse[] | undefined;
  /** What the requests of those that wait take, in characters. */
  waitingLength: number;
};

export type OpenConnections = {
  /** What an open connection is at. */
  of(socket: Duplex): OpenConnection | undefined;
  /** To be called for each request that is answered. @returns whether it is its turn; otherwise `end` tells when it is */
  begin(request: IncomingMessage, response: ServerResponse): boolean;
  /** To be called when an answer is over. @returns the answer whose turn it is then */
  end(response: ServerResponse): ServerResponse | undefined;
};

const connection = Symbol('connection');
type Answer = ServerResponse & { [connection]?: OpenConnection };

/**
 * Follows the connections of a server and their answers. Requests that are sent ahead are answered one after the other, each when
 * the answer before it has gone: nobody has more under way than connections, and what a caller does not read is not made.
 * No connection keeps anything of an answer that is over: with
 * thousands of idle ones, every collection of garbage would copy it all.
 */
export function followConnections(server: Server): OpenConnections {
  const open = new WeakMap<Duplex, OpenConnection>();
  server.on('connection', (socket) => {
    open.set(socket, { answering: 0, last: undefined, isUnused: true, waiting: undefined, waitingLength: 0 });
  });
  return {
    of: (socket) => open.get(socket),
    begin(request, response: Answer) {
      const at = open.get(request.socket);
      if (at === undefined) return true;
      at.isUnused = false;
      at.answering += 1;
      at.last = response;
      response[connection] = at;
      if (at.answering === 1) return true;
      at.waiting ??= [];
      at.waiting.push(response);
      at.waitingLength += lengthOf(request);
      return false;
    },
    end(response: Answer) {
      const at = response[connection];
      if (at === undefined) return undefined;
      at.answering -= 1;
      if (at.last === response) at.last = undefined;
      // Behind an answer that closes its connection, Node gives none of the others a socket, and tells nobody that they are over.
      if (at.waiting === undefined || !response.req.socket.writable) return undefined;
      const next = at.waiting.shift();
      if (next !== undefined) at.waitingLength -= lengthOf(next.req);
      return next;
    },
  };
}

/** What a request without its body takes, in characters. */
function lengthOf({ url = '', rawHeaders }: IncomingMessage): number {
  let length = url.length;
  for (const text of rawHeaders) length += text.length;
  return length;
}
