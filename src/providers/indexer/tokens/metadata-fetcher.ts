import type { OutgoingAnswer } from '../../../outgoing/outgoing-fault.ts';
import { ForbiddenHostError } from '../../../outgoing/public-address.ts';
import { keptMetadata } from '../../shared/kept-metadata.ts';
import type { MetadataHosts } from './metadata-hosts.ts';

export type MetadataFetcher = {
  /**
   * Fetches the metadata of a token URI, as JSON text. Contracts choose the URI, so every limit is enforced here.
   * @throws Error, safe for the log, when the metadata cannot be fetched
   */
  fetch(uri: string): Promise<string>;
};

type FetcherOptions = {
  /** Base URL for `ipfs:` URIs, to which the path is appended. */
  readonly ipfsGateway: string;
  /** The same for `ar:` URIs. */
  readonly arweaveGateway: string;
  readonly hosts: MetadataHosts;
  /** Timeout per token, redirects included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
};

const maxRedirects = 3;

// Some contracts give only the part after `ipfs://`: of version 0 in base 58, or of version 1 in base 32.
const bareCid = /^(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{58,})(?:[/?]|$)/;

/**
 * Fetches metadata of `data:`, `ipfs:`, `ar:` and `https:` URIs, of bare content ids and of JSON in place of a URI, from public
 * hosts only. Sends no credentials.
 */
export function createMetadataFetcher(options: FetcherOptions): MetadataFetcher {
  const { ipfsGateway, arweaveGateway, hosts, maxBytes, timeoutMs } = options;

  const fetchUrl = async (url: URL, endsAt: number, redirects: number): Promise<string> => {
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) throw new Error(`no metadata within ${timeoutMs} ms`);
    const { status, headers, text } = await get(url, leftMs);
    const { location } = headers;
    if (status === 200) return text;
    if (status < 300 || status >= 400 || location === undefined) throw new Error(`HTTP status ${status}`);
    if (redirects === 0) throw new Error('too many redirects');
    return fetchUrl(new URL(location, url), endsAt, redirects - 1);
  };

  const get = (url: URL, leftMs: number): Promise<OutgoingAnswer> => {
    const target = new URL(url);
    target.username = '';
    target.password = '';
    const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
    const host = hosts.of(target);
    return host.send({ method: 'GET', url: target, headers, maxBytes }, { timeoutMs: Math.ceil(leftMs) });
  };

  const urlOf = (text: string): URL => {
    const ipfs = bareCid.test(text) ? text : /^ipfs:\/\/(?:ipfs\/)?(.+)$/i.exec(text)?.[1];
    if (ipfs !== undefined) return gatewayUrl(ipfsGateway, ipfs);
    const arweave = /^ar:\/\/(.+)$/i.exec(text)?.[1];
    return arweave === undefined ? parseUrl(text) : gatewayUrl(arweaveGateway, arweave);
  };

  return {
    async fetch(uri) {
      const text = uri.trim();
      if (/^data:/i.test(text)) return asJson(readDataUri(text, maxBytes));
      if (text.startsWith('{')) return asJson(withinSize(text, maxBytes));
      return asJson(await fetchUrl(urlOf(text), performance.now() + timeoutMs, maxRedirects));
    },
  };
}

/** Whether the metadata of the URI are somewhere else, and may arrive later. */
export function isFetched(uri: string): boolean {
  const text = uri.trim();
  return bareCid.test(text) || /^(https?|ipfs|ar):/i.test(text);
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Error('the token URI is no address');
  return new URL(text);
}

/** @throws Error when the path would leave that of the gateway: a URL parser resolves `..` */
function gatewayUrl(gateway: string, path: string): URL {
  const base = new URL(`${gateway.replace(/\/+$/, '')}/`);
  const url = parseUrl(`${base.href}${path}`);
  if (url.origin === base.origin && url.pathname.startsWith(base.pathname)) return url;
  throw new ForbiddenHostError('the token URI leaves the gateway');
}

function readDataUri(uri: string, maxBytes: number): string {
  const [, parameters = '', content] = /^data:([^,]*),([\s\S]*)$/i.exec(uri) ?? [];
  if (content === undefined) throw new Error('the token URI is no address');
  if (content.length > maxBytes * 3) throw oversized(maxBytes)();
  const isBase64 = /;base64$/i.test(parameters.trim());
  return withinSize(isBase64 ? Buffer.from(content, 'base64').toString() : decodePercents(content), maxBytes);
}

function withinSize(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) > maxBytes) throw oversized(maxBytes)();
  return text;
}

function decodePercents(content: string): string {
  try {
    return decodeURIComponent(content);
  } catch {
    return content; // many contracts write plain JSON that contains a percent sign
  }
}

const oversized = (maxBytes: number) => () => new Error(`the metadata are over ${maxBytes} bytes`);

/**
 * @returns the JSON object, serialised, as far as it is kept.
 * @throws Error for anything else
 */
function asJson(text: string): string {
  // Some editors begin a file with a byte order mark.
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('the metadata are no JSON object');
  }
  return keptMetadata(value);
}
