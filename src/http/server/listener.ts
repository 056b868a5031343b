import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Logger } from '../../log.ts';
import { answerUnparsed } from './unparsed-request.ts';

export type HttpServer = {
  /** The port that it listens on. */
  readonly port: number;
  /**
   * Takes no new connection, lets requests in progress end, and cuts what is left after `graceMs`.
   */
  stop(graceMs: number): Promise<void>;
};

/** The names of the settings that host and port come from. */
type ListenSettings = { readonly host: string; readonly port: string };

/** A port that cannot be listened on, in words that say what to do. */
class ListenError extends Error {
  constructor(port: number, settings: ListenSettings, cause: NodeJS.ErrnoException) {
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} is taken. Stop what listens there, or choose another: ${settings.port}=${port + 1}`,
      EACCES: `Port ${port} needs more rights. Choose one above 1023 with ${settings.port}`,
      EADDRNOTAVAIL: `${settings.host} names no address of this machine`,
    };
    super(reasons[cause.code ?? ''] ?? `Cannot listen on port ${port}: ${cause.message}`, { cause });
    this.name = 'ListenError';
  }
}

type ListenOptions = {
  readonly host: string;
  readonly port: number;
  readonly settings: ListenSettings;
  readonly log: Logger;
  /** Time that a request has to arrive whole, and half of it for its headers. 30 s by default. */
  readonly patienceMs?: number;
};

/**
 * Listens. A request must arrive whole in time, so slow senders cannot hold connections for ever.
 * @throws ListenError
 */
export async function listen(
  handler: RequestListener,
  { host, port, log, settings, patienceMs = 30_000 }: ListenOptions,
): Promise<HttpServer> {
  const server = createServer(
    // Checked twice a minute, as Node does by itself, each limit might take half a minute more.
    {
      requestTimeout: patienceMs,
      headersTimeout: patienceMs / 2,
      connectionsCheckingInterval: patienceMs / 30,
      keepAliveTimeout: 65_000,
      // Refused below, with an answer.
      requireHostHeader: false,
    },
    (request, response) => {
      if (!namesItsHost(request)) {
        server.emit('clientError', new Error('not exactly one host'), request.socket);
        return;
      }
      request.url = toOriginForm(request.url ?? '/');
      handler(request, response);
    },
  );
  // An expectation is no more than a wish: 100 is sent when the body is wanted, others are let be.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  answerUnparsed(server, log);
  closeBehindAnswers(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ListenError(port, settings, error)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    stop: (graceMs) => stop(server, graceMs),
  };
}

/** Names no host twice, nor none: two readers of such a request might each take it for another's. */
function namesItsHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const count = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

/**
 * The path and query of a target such as `http://host/path?query`, which proxies are sent and every server
 * must take. Express would parse its host, and answers by itself when it cannot.
 */
function toOriginForm(target: string): string {
  const rest = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

// A kept-alive connection whose last answer comes after the stop began would stay open, idle, until the cut.
function closeBehindAnswers(server: Server): void {
  server.on('request', (_request, response) => {
    response.once('close', () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
  });
}
