import { connect } from 'node:net';
import type { TestService } from '../support/service.ts';

/** Writes requests byte by byte, with the key of acme, for what no HTTP client sends. */
export type RawClient = ReturnType<typeof createRawClient>;

/** The path of the events, to which requests go unless told otherwise. */
export const events = '/events/v1/api/event';

export function createRawClient({ baseUrl, keys }: TestService) {
  const port = Number(new URL(baseUrl).port);
  /** The header with the key. */
  const key = `x-api-key: ${keys.acme}\r\n`;
  const head = (line: string, headers = '') => `${line} HTTP/1.1\r\nhost: x\r\n${key}${headers}\r\n`;
  return {
    port,
    key,
    head,
    get: (headers = '', path = `${events}?limit=1`) => head(`GET ${path}`, headers),
    post: (body: string, headers = '') =>
      head(
        `POST ${events}`,
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}`,
      ) + body,
    send: (bytes: string | Buffer, answers = 1) => send(port, bytes, answers),
  };
}

/** Sends bytes and gives all that comes back until so many answers have come or the connection ends. */
function send(port: number, bytes: string | Buffer, answers: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let all = '';
    const done = () => {
      socket.destroy();
      resolve(all);
    };
    socket.on('data', (chunk) => {
      all += chunk.toString('latin1');
      if (wholeAnswers(all) >= answers) done();
    });
    socket.once('end', done);
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? done() : reject(error),
    );
    socket.write(bytes);
  });
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
