import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { shut, startListening } from './listen.ts';
import type { Payload } from './moralis-payloads.ts';

/** The ways in which the upstream fails; `none` answers correctly. */
export type Mishap =
  | 'none'
  | 400
  | 401
  | 404
  | 429
  | 500
  | 503
  | { readonly status: number; readonly retryAfter: string }
  | { readonly body: unknown }
  /** Answers as it should, so many milliseconds later. */
  | { readonly afterMs: number }
  | keyof typeof mischief;

type Asked = {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
};

export type MoralisServer = {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The requests since the last {@link forget}, in order. */
  readonly asked: Asked[];
  /** Sets the failures of the next requests, in this order. All later requests get the last one. */
  meet(...mishaps: readonly [Mishap, ...Mishap[]]): void;
  /** Ends all failures. */
  forget(): void;
  close(): Promise<void>;
};

type Data = {
  /** By hex chain id and address, oldest first. */
  readonly histories: Readonly<Record<string, readonly Payload[]>>;
  readonly nfts: Readonly<Record<string, readonly Payload[]>>;
  readonly tokens?: Readonly<Record<string, readonly Payload[]>>;
  /** Hex ids of the chains that an address used. */
  readonly chains?: Readonly<Record<string, readonly string[]>>;
};

const apiKey = 'moralis-account-key';

/** Starts a server that behaves like the hosted upstream, as far as documented, with invented data. */
export async function startMoralisServer(data: Data): Promise<MoralisServer> {
  const asked: Asked[] = [];
  const state = { mishaps: ['none'] as Mishap[] };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://upstream');
    const query = Object.fromEntries(url.searchParams);
    asked.push({ path: url.pathname, query, headers: request.headers });
    const mishap = (state.mishaps.length > 1 ? state.mishaps.shift() : state.mishaps[0]) ?? 'none';
    if (typeof mishap === 'object' && 'afterMs' in mishap) {
      setTimeout(() => answer(data, url.pathname, query, response), mishap.afterMs);
    } else if (mishap !== 'none') misbehave(mishap, response);
    else if (request.headers['x-api-key'] !== apiKey) send(response, 401, { message: 'Invalid key' });
    else answer(data, url.pathname, query, response);
  });
  return {
    baseUrl: `http://127.0.0.1:${await startListening(server)}/api/v2.2`,
    apiKey,
    asked,
    meet(...mishaps) {
      state.mishaps = [...mishaps];
    },
    forget() {
      state.mishaps = ['none'];
      asked.length = 0;
    },
    close: () => shut(server),
  };
}

type Query = Readonly<Record<string, string>>;

function answer(data: Data, path: string, query: Query, response: ServerResponse): void {
  if (path.endsWith('/chains')) {
    answerChains(data, path, query, response);
    return;
  }
  const [, , address = '', list] =
    /^\/api\/v2\.2\/(wallets\/)?(0x\w+)\/(history|nft|tokens)$/.exec(path) ?? [];
  const isHistory = list === 'history';
  const owner = `${query['chain']}:${address}`;
  const all = { history: data.histories, nft: data.nfts, tokens: data.tokens }[list ?? '']?.[owner];
  const cursor = query['cursor'];
  // The cursor contains the query of the first request; a limit in addition to a cursor is ignored.
  const start = cursor === undefined ? { at: 0, ...first(query) } : readCursor(cursor);
  if (start === undefined) {
    send(response, 400, { message: 'Invalid cursor' });
    return;
  }
  const ordered = isHistory && start.order !== 'ASC' ? [...(all ?? [])].reverse() : [...(all ?? [])];
  const end = start.at + start.limit;
  const page = {
    result: ordered.slice(start.at, end),
    cursor: end < ordered.length ? writeCursor({ ...start, at: end }) : null,
    page: start.at / start.limit,
  };
  if (isHistory) send(response, 200, { ...page, page_size: page.result.length, limit: String(start.limit) });
  else send(response, 200, { status: 'SYNCED', ...page, page_size: start.limit });
}

/** In the form of 2025: a chain that was never used has nothing. */
function answerChains(data: Data, path: string, query: Query, response: ServerResponse): void {
  const address = /0x\w+/.exec(path)?.[0] ?? '';
  const end = (block_number: string, block_timestamp: string) => ({
    block_number,
    block_timestamp,
    transaction_hash: `0x${'21'.repeat(32)}`,
  });
  const active_chains = Object.values(query).map((chain_id) => {
    const isUsed = data.chains?.[address]?.includes(chain_id) === true;
    return {
      chain: 'eth',
      chain_id,
      first_transaction: isUsed ? end('14473307', '2022-03-28T07:16:38.000Z') : null,
      last_transaction: isUsed ? end('22590621', '2025-05-29T19:55:35.000Z') : null,
    };
  });
  send(response, 200, { address, active_chains });
}

type Start = { readonly at: number; readonly order: string; readonly limit: number };

const first = ({ order = 'DESC', limit = '100' }: Query) => ({ order, limit: Number(limit) });
const writeCursor = (start: Start) => `up.${Buffer.from(JSON.stringify(start)).toString('base64url')}.sig`;

function readCursor(cursor: string): Start | undefined {
  const [, content = ''] = cursor.split('.');
  return cursor.startsWith('up.') ? JSON.parse(Buffer.from(content, 'base64url').toString()) : undefined;
}

function send(response: ServerResponse, status: number, body: unknown, headers: Query = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const text = '{"cursor":null,"page":0,"page_size":0,"limit":"100","result":[]}';
const refused = { message: 'what the upstream says is nobody else’s business' };

function misbehave(
  mishap: Exclude<Mishap, 'none' | { readonly afterMs: number }>,
  response: ServerResponse,
): void {
  if (typeof mishap === 'string') mischief[mishap](response);
  else if (typeof mishap === 'number') send(response, mishap, refused);
  else if ('body' in mishap) send(response, 200, mishap.body);
  else send(response, mishap.status, refused, { 'retry-after': mishap.retryAfter });
}

const mischief = {
  hang: () => {},
  reset: (response) => void response.socket?.resetAndDestroy(),
  half: (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    response.write(text.slice(0, 20), () => response.destroy());
  },
  truncated: (response) => void response.writeHead(200).end(text.slice(0, -5)),
  html: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
  redirect: (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  oversized: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"result":[],"padding":"${'x'.repeat(30_000_000)}"}`);
  },
  'gzip bomb': (response) => {
    const packed = gzipSync(`{"result":[],"padding":"${'x'.repeat(30_000_000)}"}`);
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(packed);
  },
} satisfies Readonly<Record<string, (response: ServerResponse) => void>>;
