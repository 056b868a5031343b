import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };
type Alteration = (call: Call) => object | undefined;

/** A proxy in front of a real node whose answers differ for good. */
export type AlteredNode = {
  readonly url: string;
  /** @param alteration gives the `result` or `error` of a call; undefined where the real answer stands */
  alter(alteration: Alteration): void;
  close(): Promise<void>;
};

export async function startAlteredNode(target: string): Promise<AlteredNode> {
  let alteration: Alteration = () => undefined;
  const server = createServer((request, response) => {
    const serve = async () => {
      const body = await text(request);
      const call: Call = JSON.parse(body);
      const altered = alteration(call);
      const headers = { 'content-type': 'application/json' };
      const answer =
        altered === undefined
          ? await (await fetch(target, { method: 'POST', headers, body })).text()
          : JSON.stringify({ jsonrpc: '2.0', id: call.id, ...altered });
      response.writeHead(200, headers).end(answer);
    };
    serve().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    alter(changed) {
      alteration = changed;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
