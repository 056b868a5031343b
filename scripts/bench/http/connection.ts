import { connect } from 'node:net';

type Answer = { readonly status: number; readonly body: string };

export type Request = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
};

export type HttpConnection = {
  /** @param request also as {@link encoded} has made it */
  send(request: Request | string): Promise<Answer>;
  close(): void;
};

/**
 * One kept connection, written by hand: who measures a service on the same machine must cost little. Understands
 * what is measured: answers with a content length, one at a time.
 */
export async function openConnection(port: number): Promise<HttpConnection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let waiting: PromiseWithResolvers<Answer> | undefined;
  let chunks: string[] = [];
  let missing = 0;
  const fail = () => waiting?.reject(new Error('The server closed the connection.'));
  socket.setEncoding('latin1');
  socket.on('error', fail).on('close', fail);
  socket.on('data', (chunk: string) => {
    chunks.push(chunk);
    missing -= chunk.length;
    if (missing > 0) return;
    const text = chunks.join('');
    const found = readAnswer(text);
    missing = 'missing' in found ? found.missing : 0;
    chunks = 'missing' in found ? [text] : [];
    if ('status' in found) waiting?.resolve(found);
  });
  return {
    send(request) {
      // Nothing would ever come.
      if (socket.destroyed) return Promise.reject(new Error('The connection is closed.'));
      waiting = Promise.withResolvers<Answer>();
      socket.write(typeof request === 'string' ? request : encoded(request));
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}

/** What goes over the connection: who sends a request often makes it once. */
export function encoded({ method, path, headers, body = '' }: Request): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  if (body !== '') head += `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `${head}\r\n${body}`;
}

/** @returns how many bytes are missing at least while it is not whole */
function readAnswer(text: string): Answer | { readonly missing: number } {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return { missing: 1 };
  const length = /^content-length: (\d+)$/im.exec(text.slice(0, end));
  if (length === null) throw new Error(`An answer without a length: ${text.slice(0, 200)}`);
  const missing = end + 4 + Number(length[1]) - text.length;
  return missing > 0 ? { missing } : { status: Number(text.slice(9, 12)), body: text.slice(end + 4) };
}
