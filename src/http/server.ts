import { createServer, type RequestListener, type Server } from 'node:http';

export type HttpServer = {
  /** The port that it listens on. */
  readonly port: number;
  /**
   * Takes no new connection, lets requests in progress end, and cuts what is left after `graceMs`.
   */
  stop(graceMs: number): Promise<void>;
};

/** A port that cannot be listened on, in words that say what to do. */
class ListenError extends Error {
  constructor(port: number, cause: NodeJS.ErrnoException) {
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} is taken. Stop what listens there, or choose another: PORT=${port + 1}`,
      EACCES: `Port ${port} needs more rights. Choose one above 1023 with PORT`,
      EADDRNOTAVAIL: 'HOST names no address of this machine',
    };
    super(reasons[cause.code ?? ''] ?? `Cannot listen on port ${port}: ${cause.message}`, { cause });
    this.name = 'ListenError';
  }
}

/**
 * Listens. A request must arrive whole within 30 s, so slow senders cannot hold connections for ever.
 * @throws ListenError
 */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<HttpServer> {
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 15_000, keepAliveTimeout: 65_000 },
    handler,
  );
  closeBehindAnswers(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ListenError(port, error)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    stop: (graceMs) => stop(server, graceMs),
  };
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
