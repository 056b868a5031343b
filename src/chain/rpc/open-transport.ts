import { createHttpTransport } from './http-transport.ts';
import { NodeFault } from './node-fault.ts';
import type { Transport } from './transport.ts';
import { createWsTransport } from './ws-transport.ts';

const transports: Readonly<Record<string, (url: URL) => Transport>> = {
  'http:': createHttpTransport,
  'https:': createHttpTransport,
  'ws:': createWsTransport,
  'wss:': createWsTransport,
};

/** Why a URL cannot be that of a node; undefined when it can. The text is safe for logs. */
export function rpcUrlFault(url: string): string | undefined {
  if (!URL.canParse(url)) return 'it is not a URL';
  const { protocol } = new URL(url);
  return protocol in transports ? undefined : `it must begin with http, https, ws or wss, not ${protocol}`;
}

/** Opens a transport. It never throws: a transport with an invalid URL fails every call, so failover can go on. */
export function openTransport(text: string): Transport {
  const fault = rpcUrlFault(text);
  if (fault !== undefined) return closedTransport(fault);
  const url = new URL(text);
  url.hash = ''; // ws throws on a fragment
  return transports[url.protocol]?.(url) ?? closedTransport('its protocol is unknown');
}

function closedTransport(fault: string): Transport {
  return { ask: () => Promise.reject(new NodeFault('refused', fault)), close() {} };
}
