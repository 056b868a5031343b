import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Express } from 'express';
import type { Logger } from '../../base/log.ts';
import { classesOf } from './app-classes.ts';
import { type ConnectionLimits, limitConnections } from './connections.ts';
import { answerUnparsed } from './unparsed-request.ts';

export type HttpServer = {
  /** The port that the server listens on. */
  readonly port: number;
  /** Answers requests for this time still, but asks each caller to connect to another process for the next one. */
  drain(ms: number): Promise<void>;
  /** Accepts no new connections, lets open requests end, and closes the remaining connections after `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** The names of the settings for host and port, for error messages. */
type ListenSettings = { readonly host: string; readonly port: string };

/** The port cannot be listened on. The message says what to do. */
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
  /** Time for a request to arrive completely; its headers get half of it. 30 s by default. */
  readonly arrivalTimeoutMs?: number;
  /** What differs from the defaults. */
  readonly limits?: Partial<ConnectionLimits>;
};

// Any usable line takes more by far. Clients that pipeline keep to a handful of requests.
const defaultLimits: ConnectionLimits = {
  total: 10_000,
  perAddress: 1_000,
  isProxy: () => false,
  pipelined: 8,
  writeTimeoutMs: 15_000,
  leastBytesPerSecond: 16 * 1024,
};

// Connections that wait until the process takes them. Of those beyond Node's 511 the kernel forgets some that their callers take
// for open: they are answered late or never. The kernel's own limit is as many at most.
const backlog = 4_096;

/**
 * Starts the HTTP server of an app. A request must arrive completely in time, so slow senders cannot keep connections, and callers
 * must read their answers.
 * @throws ListenError when the port cannot be listened on
 */
export async function listen(
  app: Express,
  { host, port, log, settings, arrivalTimeoutMs = 30_000, limits }: ListenOptions,
): Promise<HttpServer> {
  const server = createServer(
    // With Node's default check every 30 s, each timeout could take 30 s longer.
    {
      ...classesOf(app),
      requestTimeout: arrivalTimeoutMs,
      headersTimeout: arrivalTimeoutMs / 2,
      connectionsCheckingInterval: arrivalTimeoutMs / 30,
      keepAliveTimeout: 65_000,
      // Checked below instead, where it is answered with a problem.
      requireHostHeader: false,
      // A stream for the body that a request does not have is a tenth of a short answer.
      optimizeEmptyRequests: true,
    },
    (request, response) => connections.begin(request, response, answer),
  );
  const answer: RequestListener = (request, response) => {
    if (!hasOneHost(request)) {
      refuseMalformed(request.socket);
      return;
    }
    request.url = toOriginForm(request.url ?? '/');
    app(request, response);
  };
  // The body reader sends 100 Continue when it wants the body. Other expectations are ignored.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  const connections = limitConnections(server, { ...defaultLimits, ...limits }, log);
  const refuseMalformed = answerUnparsed(server, connections, log);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ListenError(port, settings, error)));
    server.listen({ port, host, backlog }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    drain: (ms) => drain(server, ms),
    stop: (graceMs) => stop(server, graceMs),
  };
}

/** Whether the request has exactly one Host header: with none or two, servers may disagree about its target. */
function hasOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

/**
 * Reduces a target such as `http://host/path?query` to path and query. Every server must accept this absolute form;
 * Express would parse the host, and answers on its own when that fails.
 */
function toOriginForm(target: string): string {
  const rest = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}

async function drain(server: Server, ms: number): Promise<void> {
  // Before the handlers, while headers can still be set.
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  await delay(ms);
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
