import { WebSocket } from 'ws';
import { OutgoingFault } from '../../outgoing/outgoing-fault.ts';
import { lookupShared } from '../../outgoing/shared-lookup.ts';
import { isRecord, parseJson, type RpcAnswer, readAnswer } from './answer.ts';
import { crowded, isCrowded, numberBytes } from './answer-size.ts';
import { createHide, type Hide } from './hide-parts.ts';
import { asNodeFault, NodeFault } from './node-fault.ts';
import type { OpenNode, Transport } from './transport.ts';

// A larger message closes the connection, so this is far above the limits of single calls.
const maxPayload = 128 * 1024 * 1024;
/** What the socket says of one. */
const tooLong = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
// Of the handshake; the probe as a whole has the deadline of the call that led to it.
const probeTimeoutMs = 5_000;

type Fault = NodeFault | OutgoingFault;
type Waiting = {
  readonly text: string;
  readonly maxBytes: number;
  settle(outcome: RpcAnswer | Fault): void;
};
type Line = {
  readonly socket: WebSocket;
  readonly waiting: Map<number, Waiting>;
  heardAt: number;
  /** Closes it for good: what waits fails, and the next call opens another. */
  end(fault: Fault): void;
};

/** JSON-RPC over one WebSocket, opened at the first call and reopened after it broke. */
export function createWsTransport(url: URL, open: OpenNode): Transport {
  let line: Line | undefined;
  let lastId = 0;
  const hide = createHide(url);

  const connect = (timeoutMs: number): Line => {
    if (line !== undefined) return line;
    const socket = new WebSocket(url, {
      handshakeTimeout: timeoutMs,
      maxPayload,
      perMessageDeflate: false,
      followRedirects: false,
      lookup: lookupShared,
    });
    const waiting: Line['waiting'] = new Map();
    const end = (fault: Fault) => {
      if (line === opened) line = undefined;
      for (const { settle } of waiting.values()) settle(fault);
      socket.terminate();
    };
    const opened: Line = { socket, waiting, heardAt: 0, end };
    line = opened;
    // One listener for all that are asked meanwhile.
    socket.on('open', () => {
      for (const { text } of waiting.values()) socket.send(text);
    });
    socket.on('error', (error) => {
      if ('code' in error && error.code === tooLong) tooLongFor(waiting)?.settle(oversized(maxPayload));
      end(broken(error.message, error));
    });
    socket.on('unexpected-response', (_request, response) => {
      end(new NodeFault('refused', `HTTP status ${response.statusCode}`));
    });
    socket.on('close', () => end(broken('the connection was closed')));
    socket.on('message', (data) => {
      opened.heardAt = performance.now();
      const bytes = Buffer.isBuffer(data) ? data : Buffer.from(data.toString());
      if (!deliver(waiting, bytes, hide)) end(new NodeFault('malformed', 'a message is no JSON-RPC answer'));
    });
    return opened;
  };

  const question = (method: string, params: readonly unknown[] | object): Request => {
    lastId += 1;
    return { jsonrpc: '2.0', id: lastId, method, params };
  };
  const node = open((signal) =>
    ask(connect(probeTimeoutMs), question('eth_chainId', []), { maxBytes: numberBytes, signal }),
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
      if (isLate(signal) && line.heardAt < askedAt) line.end(broken('the connection was silent'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const text = JSON.stringify(request);
    waiting.set(request.id, { text, maxBytes, settle });
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
  });
}

/** Whether the time of the node is over, and not that of its asker. */
const isLate = ({ reason }: AbortSignal) => reason instanceof OutgoingFault && reason.reason === 'timeout';

const broken = (message: string, cause?: Error) => new OutgoingFault('unreachable', message, { cause });

const oversized = (maxBytes: number) => new NodeFault('oversized', `the answer is over ${maxBytes} bytes`);

/** The call whose answer was too long for the socket, which does not read whose it is; known where only one may be long. */
function tooLongFor(waiting: Map<number, Waiting>): Waiting | undefined {
  const most = Math.max(...[...waiting.values()].map(({ maxBytes }) => maxBytes));
  const large = [...waiting.values()].filter(({ maxBytes }) => maxBytes === most);
  return large.length === 1 ? large[0] : undefined;
}

/** Passes a message to the call that waits for it. @returns false when the message cannot be one that is waited for */
function deliver(waiting: Map<number, Waiting>, bytes: Buffer, hide: Hide): boolean {
  if (waiting.size === 0) return true;
  const most = Math.max(...[...waiting.values()].map(({ maxBytes }) => maxBytes));
  // What is larger than anybody wants, or has too many values, is not parsed: that would hold up everybody else.
  const text = bytes.length > most ? '' : bytes.toString();
  const isParsed = text !== '' && !isCrowded(text);
  const value = isParsed ? parseJson(text) : idOnly(bytes);
  if (value === undefined) return false;
  const id = isRecord(value) && typeof value['id'] === 'number' ? value['id'] : undefined;
  const asked = id === undefined ? undefined : waiting.get(id);
  if (id === undefined || asked === undefined) return true; // its call has timed out, or there was none
  if (bytes.length > asked.maxBytes) {
    asked.settle(oversized(asked.maxBytes));
  } else {
    const answer = isParsed ? readAnswer(value, id, hide) : undefined;
    asked.settle(answer ?? new NodeFault('malformed', isParsed ? 'the answer is not JSON-RPC' : crowded));
  }
  return true;
}

const idFirst = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/;
const idLast = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
const endBytes = 100;

/** The id of an answer, which all nodes write first or last; undefined where it is not there. */
function idOnly(bytes: Buffer): { readonly id: number } | undefined {
  const [, id] =
    idFirst.exec(bytes.toString('latin1', 0, endBytes)) ??
    idLast.exec(bytes.toString('latin1', bytes.length - endBytes)) ??
    [];
  return id === undefined ? undefined : { id: Number(id) };
}
