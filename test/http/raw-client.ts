import { connect, type Socket } from 'node:net';

// Requests byte by byte, for what no HTTP client sends.

/** Opens a connection and writes to it. That it ends is seen by who reads from it, whatever the reason. */
export function open(port: number, bytes: string | Buffer = ''): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(bytes);
  return socket;
}

/** Reads all that comes until the text has come, or so many whole answers, or the connection ends. */
export function read(socket: Socket, until?: string | number): Promise<string> {
  return new Promise((resolve) => {
    let all = '';
    const add = (chunk: Buffer) => {
      all += chunk.toString('latin1');
      if (typeof until === 'number' ? wholeAnswers(all) >= until : until && all.includes(until)) done();
    };
    const done = () => {
      socket.off('data', add);
      resolve(all);
    };
    socket.on('data', add).once('close', done);
  });
}

/** Sends bytes on a connection of their own, and reads what comes back. */
export async function send(port: number, bytes: string | Buffer, until?: string | number): Promise<string> {
  const socket = open(port, bytes);
  const all = await read(socket, until);
  socket.destroy();
  return all;
}

/** Counts the answers in a text that have all of their body. */
function wholeAnswers(text: string): number {
  let count = 0;
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return count;
    const head = rest.slice(0, end);
    const length = /^HTTP\/1\.1 (1\d\d|204)/.test(head)
      ? 0
      : Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (rest.length < end + 4 + length) return count;
    rest = rest.slice(end + 4 + length);
    if (!head.startsWith('HTTP/1.1 1')) count += 1;
  }
}
