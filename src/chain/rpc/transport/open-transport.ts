import type { OutgoingRequest } from '../../../outgoing/exchange.ts';
import type { Outgoing } from '../../../outgoing/outgoing.ts';
import type { OutgoingAnswer } from '../../../outgoing/outgoing-fault.ts';
import { parseJson, type RpcAnswer, readAnswer } from './answer.ts';
import { numberBytes } from './answer-size.ts';
import { createHide, type Hide } from './hide-parts.ts';
import { asNodeFault, NodeFault } from './node-fault.ts';
import type { Transport } from './transport.ts';

// Further concurrent calls to one node wait for their turn.
const maxConcurrent = 128;
const headers = { 'content-type': 'application/json', accept: 'application/json' };
// Some nodes send JSON-RPC errors with status 400; the body of any other failure is ignored.
const reads = (status: number) => status === 200 || status === 400;

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

/**
 * Opens JSON-RPC over HTTP with keep-alive connections. Redirects are not followed. It never throws: a transport with an
 * invalid URL fails every call, so failover can go on.
 */
export function openTransport(text: string, { outgoing, label, unread }: TransportOptions): Transport {
  const fault = unread ?? rpcUrlFault(text);
  if (fault !== undefined) return closedTransport(fault);
  const url = new URL(text);
  const hide = createHide(url);
  const requestOf = (question: object, maxBytes: number): OutgoingRequest => ({
    method: 'POST',
    url,
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', ...question }),
    maxBytes,
    reads,
  });
  const node = outgoing.open({
    kind: 'node',
    label,
    maxConcurrent,
    // What a node answers is judged elsewhere: an HTTP status may be about one method only.
    failingStatus: Number.POSITIVE_INFINITY,
    probe: (signal, exchange) =>
      exchange.send(requestOf({ id: 0, method: 'eth_chainId', params: [] }, numberBytes), signal),
  });
  let lastId = 0;

  return {
    async ask(method, params, { timeoutMs, maxBytes }) {
      lastId += 1;
      const id = lastId;
      try {
        const request = requestOf({ id, method, params }, maxBytes);
        return parse(await node.send(request, { timeoutMs, about: method }), id, hide);
      } catch (error) {
        throw asNodeFault(error);
      }
    },
    close: node.close,
  };
}

function closedTransport(fault: string): Transport {
  return { ask: () => Promise.reject(new NodeFault('refused', fault)), close() {} };
}

function parse({ status, text }: OutgoingAnswer, id: number, hide: Hide): RpcAnswer {
  const answer = reads(status) ? readAnswer(parseJson(text), id, hide) : undefined;
  if (answer !== undefined) return answer;
  if (status !== 200) {
    const reason = status === 429 ? 'limited' : 'refused';
    throw new NodeFault(reason, `HTTP status ${status}`, undefined, status);
  }
  throw new NodeFault('malformed', 'the answer is not JSON-RPC');
}
