import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type OutgoingAnswer, OutgoingFault } from './outgoing-fault.ts';
import { ForbiddenHostError, isPublicAddress, lookupPublic } from './public-address.ts';
import { readText } from './read-text.ts';
import { lookupShared } from './shared-lookup.ts';

export type OutgoingRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** http or https. Redirects are not followed. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Greatest size of the answer after decompression. */
  readonly maxBytes: number;
  /** Whether the body of an answer with this status is of interest; by default that of 200. */
  readonly reads?: (status: number) => boolean;
};

type ExchangeOptions = {
  /** Connections at most; further requests wait for one. */
  readonly maxSockets: number;
  /** Connects to public addresses only, to the very ones that were checked, and anew for each request. */
  readonly isPublicOnly: boolean;
};

/** Requests over HTTP to one callee. */
export type Exchange = {
  /**
   * Sends a request and reads its answer.
   * @throws OutgoingFault; ForbiddenHostError; the reason of the signal once it aborts
   */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer>;
  /** Closes every connection; requests in progress fail. */
  close(): void;
};

export function createExchange({ maxSockets, isPublicOnly }: ExchangeOptions): Exchange {
  const agents = {
    'http:': new http.Agent({ keepAlive: true, maxSockets }),
    'https:': new https.Agent({ keepAlive: true, maxSockets }),
  };

  const open = (request: OutgoingRequest, signal: AbortSignal, reuses: boolean): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { url, method, body } = request;
      const isSecure = url.protocol === 'https:';
      const options = {
        method,
        headers: headersOf(request),
        signal,
        agent: reuses ? agents[isSecure ? 'https:' : 'http:'] : false,
        lookup: isPublicOnly ? lookupPublic : lookupShared,
      } as const;
      let isAnswered = false;
      const asked = (isSecure ? https : http).request(url, options, (response) => {
        isAnswered = true;
        resolve(response);
      });
      asked.on('error', (error) => {
        // The callee closed the idle connection just as it was reused, so it never saw this request.
        const isStale = reuses && asked.reusedSocket && !isAnswered && !signal.aborted;
        if (isStale) resolve(open(request, signal, false));
        else reject(error);
      });
      // Without a listener Node closes the connection, and tells of neither an answer nor an error.
      asked.on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(new Error('it switched protocols'));
      });
      // Of no account where it was answered, or is asked again.
      asked.on('close', () => reject(new Error('closed without an answer')));
      asked.end(body);
    });

  return {
    async send(request, signal) {
      if (isPublicOnly) assertPublic(request.url);
      try {
        return await read(await open(request, signal, !isPublicOnly), request);
      } catch (error) {
        if (error instanceof OutgoingFault || error instanceof ForbiddenHostError) throw error;
        signal.throwIfAborted();
        throw new OutgoingFault('unreachable', describe(error), { cause: error });
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** An IP address is not resolved, so it is checked here. */
function assertPublic({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new ForbiddenHostError(`${host} is no public host`);
}

function headersOf({ body, headers }: OutgoingRequest): Record<string, string | number> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return { 'accept-encoding': 'gzip', ...headers, ...length };
}

async function read(
  response: IncomingMessage,
  { maxBytes, reads = (status) => status === 200 }: OutgoingRequest,
): Promise<OutgoingAnswer> {
  const { statusCode: status = 0, headers } = response;
  if (!reads(status)) {
    response.destroy();
    return { status, headers, text: '' };
  }
  const oversized = () => new OutgoingFault('oversized', `the answer is over ${maxBytes} bytes`);
  return { status, headers, text: await readText(decompressed(response), maxBytes, oversized) };
}

function decompressed(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  // A failure surfaces where the last stream is read.
  return pipeline(response, createGunzip(), () => {});
}

/** What happened, without the address that it happened with. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'connection failed';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
