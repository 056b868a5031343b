import type { IncomingMessage } from 'node:http';

const maxBytes = 10 * 1024 * 1024;
const maxMs = 5_000;

/**
 * Reads and discards the rest of a body after an early answer, because a client that is still sending would get a
 * connection reset instead of the answer. Closes the connection after 10 MB or 5 s.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), maxMs).unref();
  let seen = 0;
  request.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > maxBytes) request.destroy();
  });
  request.once('end', () => clearTimeout(timer));
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
