import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export const credential = 'the-service-itself';

export type AuthServer = { readonly url: string; close(): Promise<void> };

/** Answers a request, whose body it is given as text. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => unknown;

/** An HTTP server on a port of its own that hands every request to one function. */
export async function startHttpServer(answer: Answer): Promise<AuthServer> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    await answer(request, response, body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/verify`,
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

/**
 * The one route that a company exposes: `POST { key }` with the service's credential.
 * @param judge what the answer says of a key
 */
export function startAuthServer(judge: (key: string) => unknown): Promise<AuthServer> {
  return startHttpServer(async ({ method, headers }, response, body) => {
    const allowed = method === 'POST' && headers.authorization === `Bearer ${credential}`;
    const status = allowed ? 200 : 401;
    const answer = allowed ? await judge(JSON.parse(body).key) : { error: 'who are you?' };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
}
