import type { OutgoingRequest } from '../../../outgoing/exchange.ts';
import type { OutgoingAnswer } from '../../../outgoing/outgoing-fault.ts';
import { parseJson, type RpcAnswer, readAnswer } from './answer.ts';
import { numberBytes } from './answer-size.ts';
import { createHide, type Hide } from './hide-parts.ts';
import { asNodeFault, NodeFault } from './node-fault.ts';
import type { OpenNode, Transport } from './transport.ts';

const headers = { 'content-type': 'application/json', accept: 'application/json' };
// Some nodes send JSON-RPC errors with status 400; the body of any other failure is ignored.
const reads = (status: number) => status === 200 || status === 400;

/** JSON-RPC over HTTP with keep-alive connections. Redirects are not followed. */
export function createHttpTransport(url: URL, open: OpenNode): Transport {
  const requestOf = (question: object, maxBytes: number): OutgoingRequest => ({
    method: 'POST',
    url,
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', ...question }),
    maxBytes,
    reads,
  });
  const node = open((signal, exchange) =>
    exchange.send(requestOf({ id: 0, method: 'eth_chainId', params: [] }, numberBytes), signal),
  );
  const hide = createHide(url);
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

function parse({ status, text }: OutgoingAnswer, id: number, hide: Hide): RpcAnswer {
  const answer = reads(status) ? readAnswer(parseJson(text), id, hide) : undefined;
  if (answer !== undefined) return answer;
  if (status !== 200) {
    const reason = status === 429 ? 'limited' : 'refused';
    throw new NodeFault(reason, `HTTP status ${status}`, undefined, status);
  }
  throw new NodeFault('malformed', 'the answer is not JSON-RPC');
}
