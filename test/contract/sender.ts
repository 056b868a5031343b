import { Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { type Area, areas } from '../../src/contract/documents.ts';
import type { Answer } from '../support/conformance.ts';

export type SentRequest = {
  readonly area: Area;
  readonly method: string;
  /** With the base path of the area and the query, sent as it stands. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer | undefined;
};

export type Sender = {
  /** @throws NoAnswerError */
  send(request: SentRequest): Promise<Answer>;
  /** The command that sends the same. Keys are shown as `$KEY`. */
  toCurl(request: SentRequest): string;
  close(): void;
};

type SenderOptions = {
  /** Scheme, host and perhaps a path in front of the base path of each area. */
  readonly baseUrls: Readonly<Record<Area, URL>>;
  readonly timeoutMs: number;
  readonly connections?: number;
  /** Keys that no command shows. */
  readonly hiddenKeys?: readonly string[];
};

/** Nothing, or nothing whole, came back. `code` is that of the network error where there is one. */
export class NoAnswerError extends Error {
  readonly code: string | undefined;

  constructor(url: URL, cause: NodeJS.ErrnoException) {
    super(`no answer from ${url.origin}: ${cause.message || cause.code}`, { cause });
    this.name = 'NoAnswerError';
    this.code = cause.code;
  }
}

/** Sends requests as they stand over connections that are kept. Redirects are answers like any other. */
export function createSender({
  baseUrls,
  timeoutMs,
  connections = 16,
  hiddenKeys = [],
}: SenderOptions): Sender {
  const options = { keepAlive: true, maxSockets: connections };
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) };
  const targetOf = ({ area, path }: SentRequest) => baseUrls[area].pathname.replace(/\/+$/, '') + path;

  const attempt = (sent: SentRequest, isRepeated = false): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const url = baseUrls[sent.area];
      const isSecure = url.protocol === 'https:';
      const timeout = AbortSignal.timeout(timeoutMs);
      const out = (isSecure ? overHttps : overHttp)({
        hostname: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port,
        method: sent.method.toUpperCase(),
        path: targetOf(sent),
        headers: withLength(sent),
        agent: agents[isSecure ? 'https:' : 'http:'],
        signal: timeout,
      });
      const fail = (error: NodeJS.ErrnoException) => {
        // The server may close a kept connection at the moment that it is used again.
        const mayRepeat = out.reusedSocket && !isRepeated && error.code === 'ECONNRESET';
        if (mayRepeat) attempt(sent, true).then(resolve, reject);
        else if (timeout.aborted) reject(new NoAnswerError(url, new Error(`none in ${timeoutMs} ms`)));
        else reject(new NoAnswerError(url, error));
      };
      out.once('error', fail);
      out.once('response', (response) => read(sent, response).then(resolve, fail));
      out.end(sent.body);
    });

  return {
    send: (sent) => attempt(sent),
    toCurl: (sent) => curlOf(sent, baseUrls[sent.area].origin + targetOf(sent), hiddenKeys),
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** The same base URL for all areas, but for those that have one of their own. */
export function baseUrlsOf(
  all: string | undefined,
  own: Readonly<Partial<Record<Area, string | undefined>>> = {},
): Partial<Record<Area, URL>> {
  return Object.fromEntries(
    areas.flatMap((area) => {
      const text = own[area] ?? all;
      return text === undefined ? [] : [[area, new URL(text)]];
    }),
  );
}

function withLength({ method, headers, body }: SentRequest) {
  const copy = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
  // Without a length, Node would send the body of a DELETE in chunks, and announce one where there is none.
  if (body !== undefined) copy['content-length'] = String(Buffer.byteLength(body));
  else if (['post', 'put', 'patch'].includes(method.toLowerCase())) copy['content-length'] = '0';
  return copy;
}

async function read({ method, path }: SentRequest, response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
  return { method, path, status: response.statusCode ?? 0, headers, text: Buffer.concat(chunks).toString() };
}

function curlOf({ method, headers, body }: SentRequest, url: string, hiddenKeys: readonly string[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => (hiddenKeys.includes(each) ? `"${name}: $KEY"` : quote(`${name}: ${each}`))),
  );
  return [
    `curl -i --path-as-is --globoff -X ${method.toUpperCase()}`,
    ...fields.map((field) => `-H ${field}`),
    ...(body === undefined ? [] : [`--data-binary ${quote(body.toString())}`]),
    quote(url),
  ].join(' ');
}
