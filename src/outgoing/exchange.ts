import { isIP } from 'node:net';
import { Agent, type Dispatcher, errors, interceptors, request } from 'undici';
import { type OutgoingAnswer, OutgoingFault } from './outgoing-fault.ts';
import { ForbiddenHostError, isPublicAddress, lookupPublic } from './public-address.ts';
import { lookupShared } from './shared-lookup.ts';

export type OutgoingRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** http or https. Redirects are not followed. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Greatest size of the answer in bytes, after decompression. */
  readonly maxBytes: number;
  /**
   * Lets the status decide, whatever the body is like. A longer body is cut. A body that is encoded, breaks or is not
   * there within a second counts as empty. By default each such body rejects the call.
   */
  readonly statusDecides?: boolean;
  /** Whether the body of an answer with this status is of interest; by default that of 200. */
  readonly reads?: (status: number) => boolean;
};

type ExchangeOptions = {
  /** Connections to one origin at most; further requests wait for one. */
  readonly maxSockets: number;
  /** Connects to public addresses only, to the checked addresses, with a new connection for each request. */
  readonly isPublicOnly: boolean;
  /** Sends a request again, once, when a kept connection was closed without an answer. */
  readonly repeatsLost: boolean;
};

/** Requests over HTTP to one callee. */
export type OutgoingExchange = {
  /**
   * Sends a request and reads its answer.
   * @throws OutgoingFault; ForbiddenHostError; the reason of the signal once it aborts
   */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer>;
  /** Closes every connection; requests in progress fail. */
  close(): void;
};

/** Creates an exchange over undici. The signal has the deadline. */
export function createExchange({ maxSockets, isPublicOnly, repeatsLost }: ExchangeOptions): OutgoingExchange {
  const agentOf = (keepsConnections: boolean) =>
    new Agent({
      connections: maxSockets,
      // 0 closes each connection behind its answer.
      pipelining: keepsConnections ? 1 : 0,
      allowH2: false,
      autoSelectFamily: true,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { lookup: isPublicOnly ? lookupPublic : lookupShared, timeout: 0 },
    });
  const [kept, fresh] = [agentOf(true), agentOf(false)];
  const unpack = interceptors.decompress({ skipErrorResponses: false });
  const [overKept, overFresh] = [kept.compose(unpack), fresh.compose(unpack)];

  const open = async (asked: OutgoingRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    const { url, method, body = null, statusDecides = false } = asked;
    const options = { method, headers: headersOf(asked), body, signal };
    const onFresh = { ...options, dispatcher: statusDecides ? fresh : overFresh };
    // Each request checks the address again.
    if (isPublicOnly) return request(url, onFresh);
    try {
      return await request(url, { ...options, dispatcher: statusDecides ? kept : overKept });
    } catch (error) {
      if (!repeatsLost || !isLost(error)) throw error;
      return request(url, onFresh);
    }
  };

  return {
    async send(asked, signal) {
      if (isPublicOnly) assertPublic(asked.url);
      try {
        const answer = await open(asked, signal);
        return await (asked.statusDecides ? readBeginning(answer, asked) : read(answer, asked));
      } catch (error) {
        if (error instanceof OutgoingFault || error instanceof ForbiddenHostError) throw error;
        signal.throwIfAborted();
        throw new OutgoingFault('unreachable', describe(error), { cause: error });
      }
    },
    close() {
      for (const agent of [kept, fresh]) agent.destroy().catch(() => {});
    },
  };
}

/** An IP address is not resolved, so it is checked here. */
function assertPublic({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new ForbiddenHostError(`${host} is no public host`);
}

/** Whether a connection that had answered before was closed: the callee may have closed it just as it was used again. */
const isLost = (error: unknown): boolean =>
  error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;

function headersOf({ url, headers, statusDecides = false }: OutgoingRequest): Record<string, string> {
  // undici does not send what stands in a URL.
  const { username, password } = url;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const basic =
    username === '' && password === '' ? {} : { authorization: `Basic ${credentials.toString('base64')}` };
  return { 'accept-encoding': statusDecides ? 'identity' : 'gzip', ...basic, ...headers };
}

type Reading = Pick<OutgoingRequest, 'maxBytes' | 'reads'>;

async function read(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  { maxBytes, reads = (code) => code === 200 }: Reading,
): Promise<OutgoingAnswer> {
  if (!reads(status)) {
    body.on('error', () => {}).destroy();
    return { status, headers, text: '' };
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new OutgoingFault('oversized', `the answer is over ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return { status, headers, text: Buffer.concat(chunks).toString('utf8') };
}

const beginningMs = 1_000;

async function readBeginning(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  { maxBytes }: Reading,
): Promise<OutgoingAnswer> {
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  const timer = setTimeout(() => body.destroy(new Error('no whole body in time')), isPlain ? beginningMs : 0);
  let text = Buffer.alloc(0);
  try {
    // Leaving the loop ends the stream, and with it the connection.
    for await (const chunk of body) {
      text = Buffer.concat([text, chunk]);
      if (text.byteLength > maxBytes) break;
    }
  } catch {
    return { status, headers, text: '' };
  } finally {
    clearTimeout(timer);
  }
  return { status, headers, text: isPlain ? text.subarray(0, maxBytes).toString('utf8') : '' };
}

/** What happened, without the address that it happened with. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'connection failed';
  if (error instanceof errors.UndiciError) return error.message;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
