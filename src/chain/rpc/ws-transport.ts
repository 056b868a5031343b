import { WebSocket } from 'ws';
import { OutgoingFault } from '../../outgoing/outgoing-fault.ts';
import { isRecord, parseJson, type RpcAnswer, readAnswer } from './answer.ts';
import { asNodeFault, NodeFault } from './node-fault.ts';
import type { OpenNode, Transport } from './transport.ts';

// A larger message closes the connection, so this is far above the limits of single calls.
const maxPayload = 128 * 1024 * 1024;
// Of the handshake; the probe as a whole has the deadline of the call that led to it.
const probeTimeoutMs = 5_000;

type Fault = NodeFault | OutgoingFault;
type Waiting = { readonly maxBytes: number; settle(outcome: RpcAnswer | Fault): void };
type Line = { readonly socket: WebSocket; readonly waiting: Map<number, Waiting>; heardAt: number };

/** JSON-RPC over one WebSocket, opened at the first call and reopened after it broke. */
export function createWsTransport(url: URL, open: OpenNode): Transport {
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
    const end = (fault: Fault) => {
      if (line === opened) line = undefined;
      for (const { settle } of opened.waiting.values()) settle(fault);
      socket.terminate();
    };
    socket.on('error', (error) => end(broken(error.message, error)));
    socket.on('unexpected-response', (_request, response) => {
      end(new NodeFault('refused', `HTTP status ${response.statusCode}`));
    });
    socket.on('close', () => end(broken('the connection was closed')));
    socket.on('message', (data) => {
      opened.heardAt = performance.now();
      if (!deliver(opened.waiting, data.toString())) end(new NodeFault('malformed', 'a message is not JSON'));
    });
    return opened;
  };

  const question = (method: string, params: readonly unknown[] | object): Request => {
    lastId += 1;
    return { jsonrpc: '2.0', id: lastId, method, params };
  };
  const node = open((signal) =>
    ask(connect(probeTimeoutMs), question('eth_chainId', []), { maxBytes: maxPayload, signal }),
  );

  return {
    async ask(method, params, { timeoutMs, maxBytes }) {
      const request = question(method, params);
      try {
        return await node.call((signal) => ask(connect(timeoutMs), request, { maxBytes, signal }), {
          timeoutMs,
          about: method,
        });
      } catch (error) {
        throw asNodeFault(error);
      }
    },
    close() {
      line?.socket.terminate();
      node.close();
    },
  };
}

type Request = { jsonrpc: '2.0'; id: number; method: string; params: readonly unknown[] | object };
type Within = { readonly maxBytes: number; readonly signal: AbortSignal };

function ask(line: Line, request: Request, { maxBytes, signal }: Within): Promise<RpcAnswer> {
  const { socket, waiting } = line;
  return new Promise((resolve, reject) => {
    const askedAt = performance.now();
    const leave = () => {
      waiting.delete(request.id);
      signal.removeEventListener('abort', onAbort);
    };
    const settle = (outcome: RpcAnswer | Fault) => {
      leave();
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    // The node may answer all the same, and nobody listens.
    const onAbort = () => {
      leave();
      reject(signal.reason);
      // Nothing has arrived since: the connection is dead although it was not closed.
      if (isLate(signal) && line.heardAt < askedAt) socket.terminate();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.set(request.id, { maxBytes, settle });
    const text = JSON.stringify(request);
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
    else socket.once('open', () => socket.send(text));
  });
}

/** Whether the time of the node is over, and not that of its asker. */
const isLate = ({ reason }: AbortSignal) => reason instanceof DOMException && reason.name === 'TimeoutError';

const broken = (message: string, cause?: Error) => new OutgoingFault('unreachable', message, { cause });

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
