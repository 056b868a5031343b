import { WebSocket } from 'ws';
import { currentScope } from '../../request-scope.ts';
import { isRecord, parseJson, type RpcAnswer, readAnswer } from './answer.ts';
import { NodeFault } from './node-fault.ts';
import type { Limits, Transport } from './transport.ts';

// A larger message closes the connection, so this is far above the limits of single calls.
const maxPayload = 128 * 1024 * 1024;

type Waiting = { readonly maxBytes: number; settle(outcome: RpcAnswer | NodeFault): void };
type Line = { readonly socket: WebSocket; readonly waiting: Map<number, Waiting>; heardAt: number };

/** JSON-RPC over one WebSocket, opened at the first call and reopened after it broke. */
export function createWsTransport(url: URL): Transport {
  let line: Line | undefined;
  let lastId = 0;

  const connect = (timeoutMs: number): Line => {
    if (line !== undefined) return line;
    const socket = new WebSocket(url, {
      handshakeTimeout: timeoutMs,
      maxPayload,
      perMessageDeflate: false,
      followRedirects: false,
    });
    const opened: Line = { socket, waiting: new Map(), heardAt: 0 };
    line = opened;
    const end = (fault: NodeFault) => {
      if (line === opened) line = undefined;
      for (const { settle } of opened.waiting.values()) settle(fault);
      socket.terminate();
    };
    socket.on('error', (error) => end(new NodeFault('unreachable', error.message, error)));
    socket.on('unexpected-response', (_request, response) => {
      end(new NodeFault('refused', `HTTP status ${response.statusCode}`));
    });
    socket.on('close', () => end(new NodeFault('unreachable', 'the connection was closed')));
    socket.on('message', (data) => {
      opened.heardAt = performance.now();
      if (!deliver(opened.waiting, data.toString())) end(new NodeFault('malformed', 'a message is not JSON'));
    });
    return opened;
  };

  return {
    ask(method, params, limits) {
      lastId += 1;
      return ask(connect(limits.timeoutMs), { jsonrpc: '2.0', id: lastId, method, params }, limits);
    },
    close() {
      line?.socket.terminate();
    },
  };
}

type Request = { jsonrpc: '2.0'; id: number; method: string; params: readonly unknown[] | object };

function ask(line: Line, request: Request, { timeoutMs, maxBytes }: Limits): Promise<RpcAnswer> {
  const { socket, waiting } = line;
  return new Promise((resolve, reject) => {
    const askedAt = performance.now();
    const asker = currentScope()?.signal;
    const leave = () => {
      clearTimeout(timer);
      waiting.delete(request.id);
      asker?.removeEventListener('abort', onAbort);
    };
    const settle = (outcome: RpcAnswer | NodeFault) => {
      leave();
      if (outcome instanceof NodeFault) reject(outcome);
      else resolve(outcome);
    };
    // The node answers all the same, and nobody listens.
    const onAbort = () => {
      leave();
      reject(asker?.reason);
    };
    asker?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => {
      settle(new NodeFault('timeout', `no answer within ${timeoutMs} ms`));
      // Nothing has arrived since: the connection is dead although it was not closed.
      if (line.heardAt < askedAt) socket.terminate();
    }, timeoutMs);
    waiting.set(request.id, { maxBytes, settle });
    const text = JSON.stringify(request);
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
    else socket.once('open', () => socket.send(text));
  });
}

/** Passes a message to the call that waits for it. @returns false when the message is not JSON */
function deliver(waiting: Map<number, Waiting>, text: string): boolean {
  const value = parseJson(text);
  if (value === undefined) return false;
  const id = isRecord(value) && typeof value['id'] === 'number' ? value['id'] : undefined;
  const asked = id === undefined ? undefined : waiting.get(id);
  if (id === undefined || asked === undefined) return true; // its call has timed out, or there was none
  if (Buffer.byteLength(text) > asked.maxBytes) {
    asked.settle(new NodeFault('oversized', `the answer is over ${asked.maxBytes} bytes`));
  } else {
    asked.settle(readAnswer(value, id) ?? new NodeFault('malformed', 'the answer is not JSON-RPC'));
  }
  return true;
}
