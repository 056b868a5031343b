import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export type ReadingPace = {
  /** Milliseconds that a caller may be behind the pace. */
  readonly writeTimeoutMs: number;
  /** Bytes a second that a caller must take of what is written to it. */
  readonly leastBytesPerSecond: number;
};

type Reader = {
  /** Bytes that it had taken at the last look. */
  taken: number;
  /** How much longer it may take nothing. */
  leftMs: number;
};

const looksPerTimeout = 10;

/**
 * Tells of callers who read their answers too slowly. Any progress would re-arm Node's timer of a socket, so one who takes
 * a segment now and then would hold an answer for ever; and a timer of each socket costs more than one for all.
 */
export function findSlowReaders(
  server: Server,
  { writeTimeoutMs, leastBytesPerSecond }: ReadingPace,
  onSlow: (socket: Socket) => void,
): void {
  const readers = new Map<Socket, Reader>();
  server.on('connection', (socket: Socket) => {
    readers.set(socket, { taken: 0, leftMs: writeTimeoutMs });
    socket.once('close', () => readers.delete(socket));
  });

  const note = (socket: Socket, reader: Reader, passedMs: number): void => {
    if (socket.writableLength === 0) {
      reader.leftMs = Math.min(writeTimeoutMs, reader.leftMs + passedMs);
      return;
    }
    const taken = bytesTaken(socket);
    const earnedMs = ((taken - reader.taken) / leastBytesPerSecond) * 1_000;
    reader.taken = taken;
    reader.leftMs = Math.min(writeTimeoutMs, reader.leftMs + earnedMs) - passedMs;
    if (reader.leftMs <= 0) onSlow(socket);
  };

  const lookMs = writeTimeoutMs / looksPerTimeout;
  let lookedAt = performance.now();
  const looking = setInterval(() => {
    const now = performance.now();
    // While the process itself stood still, nobody could take anything.
    const passedMs = Math.min(now - lookedAt, 2 * lookMs);
    lookedAt = now;
    for (const [socket, reader] of readers) note(socket, reader, passedMs);
  }, lookMs).unref();
  server.once('close', () => clearInterval(looking));
}

/**
 * What the kernel has taken. A socket counts a write when it is done, which for some MB is long; libuv tells how much of one
 * is left. Node does not document that, so where it is not there the rest of a write counts as not taken.
 */
function bytesTaken(socket: Socket): number {
  const handle: { bytesWritten?: unknown; writeQueueSize?: unknown } = Reflect.get(socket, '_handle') ?? {};
  const { bytesWritten: given, writeQueueSize: left } = handle;
  if (typeof given === 'number' && typeof left === 'number') return given - left;
  return socket.bytesWritten - socket.writableLength;
}
