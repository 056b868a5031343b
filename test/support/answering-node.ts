import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };
type NodeAnswer = { readonly result?: unknown } | { readonly error: { code: number; message: string } };

/** Answers a method in place of the real node; undefined where the real node is to answer. */
type Answer = (
  params: readonly unknown[],
  pass: () => Promise<NodeAnswer>,
) => Promise<NodeAnswer | undefined> | NodeAnswer | undefined;

export type AnsweringNode = {
  readonly url: string;
  /** Answers a method in this way from now on; undefined lets the real node answer again. */
  answer(method: string, how: Answer | undefined): void;
  /** Forwards to another node from now on. */
  leadTo(target: string): void;
  /** How often a method was asked. */
  asked(method: string): number;
  close(): Promise<void>;
};

/** Starts a proxy in front of a real node that answers chosen methods itself, for as long as it is told to. */
export async function startAnsweringNode(target: string): Promise<AnsweringNode> {
  const answers = new Map<string, Answer>();
  const counts = new Map<string, number>();
  let real = target;

  const pass = async (call: Call): Promise<NodeAnswer> => {
    const response = await fetch(real, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...call }),
    });
    return (await response.json()) as NodeAnswer; // the real node's own
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const call: Call = JSON.parse(await text(request));
    counts.set(call.method, (counts.get(call.method) ?? 0) + 1);
    const given = await answers.get(call.method)?.(call.params, () => pass(call));
    const body = JSON.stringify({ ...(given ?? (await pass(call))), jsonrpc: '2.0', id: call.id });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    answer(method, how) {
      if (how === undefined) answers.delete(method);
      else answers.set(method, how);
    },
    leadTo(other) {
      real = other;
    },
    asked: (method) => counts.get(method) ?? 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
