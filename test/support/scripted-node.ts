import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

type Answer =
  | { readonly result: unknown }
  | { readonly error: { code: number; message: string; data?: unknown } };

export type ScriptedNode = {
  readonly url: string;
  /** Parameters of each question but `eth_chainId`, in order. */
  readonly asked: readonly (readonly unknown[])[];
  /** What it answers from now on to everything but `eth_chainId`; `drop` breaks the connection. */
  say(answer: Answer | 'drop'): void;
  close(): Promise<void>;
};

/** A node of chain 31337 that answers whatever it is told to. */
export async function startScriptedNode(): Promise<ScriptedNode> {
  const asked: (readonly unknown[])[] = [];
  let next: Answer | 'drop' = 'drop';
  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse(await text(request));
    const isChainId = method === 'eth_chainId';
    if (!isChainId) asked.push(params);
    const answer = isChainId ? { result: '0x7a69' } : next;
    if (answer === 'drop') {
      request.socket.destroy();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    asked,
    say(answer) {
      next = answer;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
