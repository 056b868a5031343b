import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export type ReadingPace = {
  /** Milliseconds that a caller may be behind the pace. */
  readonly writeTimeoutMs: number;
  /** Bytes a second that a caller must take. */
  readonly leastBytesPerSecond: number;
};

/** Of an answer that is not fully sent: the bytes that were sent, and how much longer the caller may take none. */
type Reading = { readonly sent: number; readonly leftMs: number };

const looksPerTimeout = 10;

/**
 * Finds callers who read too slowly. They have `writeTimeoutMs`, and the time of the bytes that are not sent yet. Node
 * reports a large write when it is done, so one that is read at the pace is not blamed before.
 */
export function findSlowReaders(
  server: Server,
  open: ReadonlyMap<Duplex, readonly ServerResponse[]>,
  { writeTimeoutMs, leastBytesPerSecond }: ReadingPace,
  onSlow: (socket: Duplex) => void,
): void {
  const readings = new WeakMap<ServerResponse, Reading>();
  const timeOf = (bytes: number) => (bytes / leastBytesPerSecond) * 1_000;

  const look = (response: ServerResponse, passedMs: number): boolean => {
    const { writableLength: unsent, socket } = response;
    if (socket === null || unsent === 0) {
      readings.delete(response);
      return false;
    }
    const sent = socket.bytesWritten - unsent;
    const mostMs = writeTimeoutMs + timeOf(unsent);
    const before = readings.get(response) ?? { sent, leftMs: mostMs };
    const leftMs = Math.min(mostMs, before.leftMs + timeOf(sent - before.sent)) - passedMs;
    readings.set(response, { sent, leftMs });
    return leftMs <= 0;
  };

  const lookMs = writeTimeoutMs / looksPerTimeout;
  let lookedAt = performance.now();
  const looking = setInterval(() => {
    const now = performance.now();
    // While the process itself was stopped, nobody could take anything.
    const passedMs = Math.min(now - lookedAt, 2 * lookMs);
    lookedAt = now;
    for (const [socket, [first]] of open) if (first !== undefined && look(first, passedMs)) onSlow(socket);
  }, lookMs).unref();
  server.once('close', () => clearInterval(looking));
}
