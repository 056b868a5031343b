import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export type FrontProxy = {
  readonly baseUrl: string;
  /** The bodies of check-ins that went through. */
  readonly checkIns: string[];
  /** What a server could log: methods, addresses, and headers except the key. */
  readonly logged: string[];
  /** Serves another release of the page from now on: its title begins with these words. */
  release(words: string): void;
  close(): Promise<void>;
};

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');

/** Starts a proxy in front of a service. It sees what browsers send, and can serve another release of the page. */
export async function startProxy(target: string): Promise<FrontProxy> {
  const [checkIns, logged]: [string[], string[]] = [[], []];
  let words: string | undefined;
  const nextOf = (html: string) => (words === undefined ? html : html.replace('<title>', `<title>${words} `));

  /** The text of a file in the release that is served now. */
  async function inRelease(url: string, text: string): Promise<string> {
    if (url === '/door') return nextOf(text);
    if (url !== '/door/worker.js') return text;
    const html = await (await fetch(`${target}/door`)).text();
    return text.replace(digestOf(html), digestOf(nextOf(html)));
  }

  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    logged.push(`${method} ${url} ${JSON.stringify(without(headers, ['x-api-key']))}`);
    const body = await bodyOf(request);
    if (url.endsWith('/checkin')) checkIns.push(body);
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: without(headers, ['host', 'connection', 'content-length', 'if-none-match']),
      redirect: 'manual',
      ...(body === '' ? {} : { body }),
    });
    const text = await inRelease(url, await answer.text());
    const ofPiece = ['content-length', 'content-encoding', 'transfer-encoding', 'etag', 'connection'];
    response.writeHead(answer.status, without(Object.fromEntries(answer.headers), ofPiece)).end(text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    baseUrl: `http://localhost:${(server.address() as AddressInfo).port}`,
    checkIns,
    logged,
    release: (next) => {
      words = next;
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

const without = (headers: object, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
