import {
  type Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  request as send,
} from 'node:http';

export type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

type Target = {
  readonly agent: Agent;
  readonly port: number;
  readonly headers: OutgoingHttpHeaders;
  /** Sees the answer as well. */
  readonly onAnswer?: (answer: IncomingMessage) => void;
};

/** Passes a request on to a port of this machine, and its answer back. What the target breaks off is broken off. */
export function passOn({ agent, port, headers, onAnswer }: Target, { request, response }: Exchange): void {
  const options = { host: '127.0.0.1', method: request.method, path: request.url };
  const upstream = send({ ...options, agent, port, headers });
  upstream.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 599, answer.headers);
    answer.pipe(response);
    onAnswer?.(answer);
    answer.once('error', () => response.destroy());
  });
  upstream.once('error', () => {
    if (response.headersSent) response.destroy();
    else request.socket.destroy();
  });
  response.once('close', () => upstream.destroy());
  request.pipe(upstream);
}
