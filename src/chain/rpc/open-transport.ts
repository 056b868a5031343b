import type { Outgoing } from '../../outgoing/outgoing.ts';
import { createHttpTransport } from './http-transport.ts';
import { NodeFault } from './node-fault.ts';
import type { OpenNode, Transport } from './transport.ts';
import { createWsTransport } from './ws-transport.ts';

const transports: Readonly<Record<string, (url: URL, open: OpenNode) => Transport>> = {
  'http:': createHttpTransport,
  'https:': createHttpTransport,
  'ws:': createWsTransport,
  'wss:': createWsTransport,
};

// Further concurrent calls to one node wait for their turn.
const maxConcurrent = 128;

/** Why a URL cannot be that of a node; undefined when it can. The text is safe for logs. */
export function rpcUrlFault(url: string): string | undefined {
  if (!URL.canParse(url)) return 'it is not a URL';
  const { protocol } = new URL(url);
  return protocol in transports ? undefined : `it must begin with http, https, ws or wss, not ${protocol}`;
}

type TransportOptions = {
  readonly outgoing: Outgoing;
  /** The node as logs and metrics may show it. */
  readonly label: string;
  /** Why the address of the node could not be read, if so. */
  readonly unread?: string | undefined;
};

/** Opens a transport. It never throws: a transport with an invalid URL fails every call, so failover can go on. */
export function openTransport(text: string, { outgoing, label, unread }: TransportOptions): Transport {
  const fault = unread ?? rpcUrlFault(text);
  if (fault !== undefined) return closedTransport(fault);
  const url = new URL(text);
  url.hash = ''; // ws throws on a fragment
  // What a node answers is judged elsewhere: an HTTP status may be about one method only.
  const open: OpenNode = (probe) =>
    outgoing.open({ kind: 'node', label, maxConcurrent, failingStatus: Number.POSITIVE_INFINITY, probe });
  return transports[url.protocol]?.(url, open) ?? closedTransport('its protocol is unknown');
}

function closedTransport(fault: string): Transport {
  return { ask: () => Promise.reject(new NodeFault('refused', fault)), close() {} };
}
