import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';

/** The ways in which a node fails; `none` forwards the call to the real node. */
export type Failure =
  | 'none'
  | 'drop'
  | 'hang'
  | 'half'
  | 'html'
  | 'no json-rpc'
  | 'wrong id'
  | 'status 500'
  | 'status 429'
  | 'status 401'
  | 'rate limit'
  | 'no state'
  | 'redirect'
  | 'oversized'
  | 'gzip bomb'
  | 'wrong chain';

export type NodeProxy = {
  readonly url: string;
  /** The methods called since the last {@link forget}, in order. */
  readonly asked: string[];
  /** The number of connections that were opened. */
  readonly connections: () => number;
  fail(failure: Failure): void;
  /** Delays calls of this method until the returned function is called. */
  hold(method: string): () => void;
  forget(): void;
  close(): Promise<void>;
};

type Call = { readonly id: number; readonly method: string };

/** Starts a proxy in front of a real node that fails on demand. */
export async function startNodeProxy(target: string): Promise<NodeProxy> {
  const asked: string[] = [];
  const held = new Map<string, Promise<void>>();
  const state: { failure: Failure; connections: number } = { failure: 'none', connections: 0 };

  const pass = async (body: string): Promise<string> => {
    const { method }: Call = JSON.parse(body);
    await held.get(method);
    const headers = { 'content-type': 'application/json' };
    return (await fetch(target, { method: 'POST', headers, body })).text();
  };

  const server = createServer((request, response) => {
    const serve = async () => {
      const body = await text(request);
      const call: Call = JSON.parse(body);
      asked.push(call.method);
      const misbehave = misbehaviours[state.failure];
      if (misbehave !== undefined) misbehave(call, request, response);
      else json(response, await pass(body));
    };
    // Closes the connection when the real node does not answer.
    serve().catch(() => request.socket.destroy());
  });
  server.on('connection', () => {
    state.connections += 1;
  });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    connections: () => state.connections,
    fail(failure) {
      state.failure = failure;
    },
    hold(method) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(method, promise);
      return () => {
        held.delete(method);
        resolve();
      };
    },
    forget() {
      asked.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Misbehaviour = (call: Call, request: IncomingMessage, response: ServerResponse) => void;

const misbehaviours: Partial<Record<Failure, Misbehaviour>> = {
  drop: (_call, request) => request.socket.destroy(),
  hang: () => {},
  half: ({ id }, request, response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write(`{"jsonrpc":"2.0","id":${id},`, () => request.socket.destroy());
  },
  html: (_call, _request, response) => response.end('<html>Welcome</html>'),
  'no json-rpc': ({ id }, _request, response) => json(response, JSON.stringify({ id })),
  'wrong id': ({ id }, _request, response) =>
    json(response, JSON.stringify({ id: id + 1, result: '0x7a69' })),
  'status 500': (_call, _request, response) => response.writeHead(500).end('{}'),
  'status 429': (_call, _request, response) => response.writeHead(429).end('{}'),
  'status 401': (_call, _request, response) => response.writeHead(401).end('{}'),
  'rate limit': ({ id }, _request, response) =>
    json(response, JSON.stringify({ id, error: { code: -32005, message: 'Too many requests' } })),
  'no state': ({ id, method }, _request, response) => {
    const result =
      method === 'eth_chainId'
        ? { result: '0x7a69' }
        : { error: { code: -32000, message: 'header not found' } };
    json(response, JSON.stringify({ id, ...result }));
  },
  redirect: (_call, _request, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
  oversized: (call, _request, response) => json(response, oversized(call)),
  'gzip bomb': (call, _request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(oversized(call)));
  },
  'wrong chain': ({ id }, _request, response) => json(response, JSON.stringify({ id, result: '0x1' })),
};

// The correct chain id in an answer that exceeds the size limit of an eth_call or of a chain id.
function oversized({ id, method }: Call): string {
  const filler = ' '.repeat(1024 * 1024);
  return `{"id":${id},${filler}"result":"${method === 'eth_chainId' ? '0x7a69' : '0x01'}"}`;
}

function json(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}
