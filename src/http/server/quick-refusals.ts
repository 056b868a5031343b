import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { OpenConnections } from './open-connections.ts';
import { placeholder, refusalBody, refusalHeaders, retryAfterSeconds } from './refusals.ts';

/** Of a request, before anything is made of it. */
export type RawRequest = { readonly url: string; readonly key: string | undefined };

type OnIncoming = (request: IncomingMessage, keepsAlive: boolean) => number;
/** What Node keeps with a connection, and does not document. */
type ParsedSocket = Socket & {
  readonly parser?: { onIncoming?: OnIncoming | null; incoming?: IncomingMessage | null } | null;
};

// What follows is not read to be refused, but dropped as it comes.
const mostBodyBytes = 64 * 1024;

type QuickOptions = {
  /** Whether some are refused now, so that it has to be looked at which. */
  readonly isRefusing: () => boolean;
  /** Whether a request is to be refused; then it is. */
  readonly refuses: (request: RawRequest) => boolean;
  /**
   * Calls what sends a refusal, at once or when it may be sent.
   * @param asksOn whether the caller does not wait as long as it was asked to
   */
  readonly pace: (send: () => void, asksOn: boolean) => void;
};

/**
 * Refuses usual requests before Node makes an answer for each, which takes three times as long: under three times the load
 * that a process can serve, that is what it has left for answers. Whatever is not usual goes the long way, and so does all
 * where a release of Node keeps its parser elsewhere.
 */
export function refuseQuickly(
  server: Server,
  connections: OpenConnections,
  { isRefusing, refuses, pace }: QuickOptions,
): void {
  const answer = createAnswers(server.keepAliveTimeout);
  server.on('connection', (socket: ParsedSocket) => {
    const { parser } = socket;
    const onIncoming = parser?.onIncoming;
    if (!parser || !onIncoming) return;
    let isWaiting = false;
    let refusedAt = Number.NEGATIVE_INFINITY;
    const send = () => {
      if (!isWaiting) return;
      isWaiting = false;
      refusedAt = performance.now();
      if (socket.writable) socket.write(answer(), 'latin1');
    };
    parser.onIncoming = (request, keepsAlive) => {
      const isUsual = isRefusing() && keepsAlive && !isWaiting && isFree(socket, connections);
      const asked = isUsual ? readUsual(request) : undefined;
      if (asked === undefined || !refuses(asked)) {
        // It came first.
        send();
        return onIncoming(request, keepsAlive);
      }
      isWaiting = true;
      pace(send, performance.now() - refusedAt < retryAfterSeconds * 1_000);
      // The parser drops what is sent to nobody.
      parser.incoming = null;
      return 0;
    };
  });
}

/** Whether nothing is to be answered or read before: answers come in the order of their requests. */
const isFree = (socket: Socket, connections: OpenConnections): boolean =>
  socket.writable && socket.writableLength === 0 && connections.of(socket)?.answering === 0;

/** Undefined for a request that has to be looked at more closely than for its key. */
function readUsual({ method, httpVersion, url = '', upgrade, rawHeaders }: Incoming): RawRequest | undefined {
  if (method === 'HEAD' || httpVersion !== '1.1' || upgrade === true) return undefined;
  let [hosts, key]: [number, string | undefined] = [0, undefined];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    switch (lengths.has(name.length) ? name.toLowerCase() : '') {
      case 'host':
        hosts += 1;
        break;
      case 'x-api-key':
        // More than one is none that is known.
        key = key === undefined ? value : '';
        break;
      case 'content-length':
        if (Number(value) > mostBodyBytes) return undefined;
        break;
      case 'expect':
      case 'transfer-encoding':
        return undefined;
    }
  }
  return hosts === 1 && url.startsWith('/') ? { url, key } : undefined;
}

type Incoming = Pick<IncomingMessage, 'method' | 'httpVersion' | 'url' | 'rawHeaders'> & {
  readonly upgrade?: boolean;
};
const lengths = new Set(
  ['host', 'x-api-key', 'content-length', 'expect', 'transfer-encoding'].map(({ length }) => length),
);

/** The same answer, byte for byte, that Node makes of the headers and the body. */
function createAnswers(keepAliveMs: number): () => string {
  const lines = [`HTTP/1.1 503 ${STATUS_CODES[503]}`];
  for (let at = 0; at < refusalHeaders.length; at += 2) {
    lines.push(`${refusalHeaders[at]}: ${refusalHeaders[at + 1]}`);
  }
  const kept = ['Connection: keep-alive', `Keep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}`];
  const [head, [beforeId = '', afterId = '']] = [lines.join('\r\n'), refusalBody.split(placeholder)];
  const date = { second: 0, text: '' };
  return () => {
    const [id, second] = [randomUUID(), Math.floor(Date.now() / 1_000)];
    if (second !== date.second) {
      const text = [`Date: ${new Date().toUTCString()}`, ...kept, '', beforeId].join('\r\n');
      Object.assign(date, { second, text });
    }
    return `${head}\r\nX-Request-Id: ${id}\r\n${date.text}${id}${afterId}`;
  };
}
