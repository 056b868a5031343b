import type { IncomingMessage } from 'node:http';

const maxBytes = 10 * 1024 * 1024;
const maxMs = 5_000;

/**
 * After an answer that did not wait for the whole body: the rest is read and thrown away, because a client
 * that is still sending would otherwise get a reset instead of its answer. What goes on for longer than
 * 10 MB or 5 s is cut off.
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
