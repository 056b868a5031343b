import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { shut, startListening } from '../listen.ts';
import { type Answer, type Call, type Flaw, type Pass, type Reply, withFlaws } from './flaw.ts';

/** A JSON-RPC node with a source of truth behind it and flaws in front of that. */
export type TestNode = {
  readonly url: string;
  /** Every call since the last {@link forget}, in order. */
  readonly asked: Call[];
  /** Every call since the last {@link forget} that a flaw did not leave to the source. */
  readonly flawed: Call[];
  /** The methods of all calls in {@link asked}, or the calls of one method. */
  methods(): string[];
  count(method: string): number;
  /** The methods of all calls since the last {@link forget}, which it is too. */
  takeMethods(): string[];
  /** Gives it these flaws in place of earlier ones; the first is nearest to the caller. */
  setFlaws(...flaws: readonly Flaw[]): void;
  /** Takes answers from another source from now on. */
  leadTo(source: string | Pass): void;
  forget(): void;
  close(): Promise<void>;
};

const headers = { 'content-type': 'application/json' };

/** Puts a question to the node with this URL. */
export async function askNode(url: string, { method, params }: Call) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers, body });
  return (await response.json()) as Answer; // a real node's own
}

/**
 * Starts a node on a free port.
 * @param source the URL of a real node that it forwards to, or what answers in its place, such as recorded blocks
 */
export async function startNode(source: string | Pass, ...first: readonly Flaw[]): Promise<TestNode> {
  const asked: Call[] = [];
  const flawed: Call[] = [];
  const state = { source, flaws: first };

  const answerTo = (call: Call): Promise<Reply> => {
    asked.push(call);
    const { source } = state;
    const truth: Pass = typeof source === 'string' ? (passed) => askNode(source, passed) : source;
    let isFlawed = false;
    return withFlaws(state.flaws, truth, () => {
      if (!isFlawed) flawed.push(call);
      isFlawed = true;
    })(call);
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body: Call | Call[] = JSON.parse(await text(request));
    const isBatch = Array.isArray(body);
    const calls = isBatch ? body : [body];
    const replies = await Promise.all(calls.map(answerTo));
    const bare = replies.find((reply) => typeof reply === 'string' || 'status' in reply);
    if (bare === 'drop') request.socket.destroy();
    else if (typeof bare === 'object' && 'status' in bare) {
      response.writeHead(bare.status, bare.headers);
      if (bare.isCut) response.write(bare.body ?? '', () => request.socket.destroy());
      else response.end(bare.body ?? '{}');
    } else if (bare === undefined) {
      const answers = replies.map((reply, index) => toJsonRpc(calls[index]?.id, reply as Answer)); // no other is left
      response.writeHead(200, headers).end(JSON.stringify(isBatch ? answers : answers[0]));
    }
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  return {
    url: `http://127.0.0.1:${await startListening(server)}`,
    asked,
    flawed,
    methods: () => asked.map(({ method }) => method),
    count: (method) => asked.filter((call) => call.method === method).length,
    takeMethods: () => {
      const methods = asked.splice(0).map(({ method }) => method);
      flawed.length = 0;
      return methods;
    },
    setFlaws(...flaws) {
      state.flaws = flaws;
    },
    leadTo(other) {
      state.source = other;
    },
    forget() {
      asked.length = 0;
      flawed.length = 0;
    },
    close: () => shut(server),
  };
}

const toJsonRpc = (id: unknown, { result, error }: Answer) => ({
  jsonrpc: '2.0',
  id,
  ...(error ? { error } : { result: result ?? null }),
});
