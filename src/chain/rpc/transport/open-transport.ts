import type { Outgoing } from '../../../outgoing/outgoing.ts';
import { createHttpTransport } from './http-transport.ts';
import { NodeFault } from './node-fault.ts';
import type { OpenNode, Transport } from './transport.ts';

// Further concurrent calls to one node wait for their turn.
const maxConcurrent = 128;

/** Why a URL cannot be that of a node; undefined when it can. The text is safe for logs. */
export function rpcUrlFault(url: string): string | undefined {
  if (!URL.canParse(url)) return 'it is not a URL';
  const { protocol } = new URL(url);
  if (protocol === 'http:' || protocol === 'https:') return undefined;
  const isSocket = protocol === 'ws:' || protocol === 'wss:';
  const hint = isSocket ? '. Use the http(s) address of the same node' : '';
  return `it must begin with http or https, not ${protocol}${hint}`;
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
  // What a node answers is judged elsewhere: an HTTP status may be about one method only.
  const open: OpenNode = (probe) =>
    outgoing.open({ kind: 'node', label, maxConcurrent, failingStatus: Number.POSITIVE_INFINITY, probe });
  return createHttpTransport(new URL(text), open);
}

function closedTransport(fault: string): Transport {
  return { ask: () => Promise.reject(new NodeFault('refused', fault)), close() {} };
}
