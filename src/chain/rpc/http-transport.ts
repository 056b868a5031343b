import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readText } from '../../read-text.ts';
import { currentScope } from '../../request-scope.ts';
import { parseJson, type RpcAnswer, readAnswer } from './answer.ts';
import { NodeFault } from './node-fault.ts';
import type { Limits, Transport } from './transport.ts';

// Further concurrent calls to one node wait for a connection, within their own timeout.
const maxSockets = 128;

/** JSON-RPC over HTTP with keep-alive connections. Redirects are not followed. */
export function createHttpTransport(url: URL): Transport {
  const client = url.protocol === 'https:' ? https : http;
  const agent = new client.Agent({ keepAlive: true, maxSockets });
  let lastId = 0;

  const open = (body: string, signal: AbortSignal, reuse: boolean) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        accept: 'application/json',
        'accept-encoding': 'gzip',
      };
      const options = { method: 'POST', headers, signal, agent: reuse ? agent : false };
      const request = client.request(url, options, resolve);
      request.on('error', (error) => {
        // The node closed the idle connection just as it was reused, so it never saw this request.
        const stale = reuse && request.reusedSocket && !signal.aborted;
        if (stale) open(body, signal, false).then(resolve, reject);
        else reject(error);
      });
      request.end(body);
    });

  const post = async (id: number, body: string, { timeoutMs, maxBytes }: Limits): Promise<RpcAnswer> => {
    const late = AbortSignal.timeout(timeoutMs);
    const asker = currentScope()?.signal;
    const signal = asker === undefined ? late : AbortSignal.any([late, asker]);
    try {
      const response = await open(body, signal, true);
      return parse(response, id, await readAccepted(response, maxBytes));
    } catch (error) {
      if (error instanceof NodeFault) throw error;
      // The node is not to blame.
      if (asker?.aborted === true) throw asker.reason;
      if (late.aborted) throw new NodeFault('timeout', `no answer within ${timeoutMs} ms`, error);
      throw new NodeFault('unreachable', describe(error), error);
    }
  };

  return {
    ask(method, params, limits) {
      lastId += 1;
      return post(lastId, JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }), limits);
    },
    close() {
      agent.destroy();
    },
  };
}

async function readAccepted(response: IncomingMessage, maxBytes: number): Promise<string> {
  const status = response.statusCode ?? 0;
  // Some nodes send JSON-RPC errors with status 400; the body of any other failure is ignored.
  if (status !== 200 && status !== 400) {
    response.destroy();
    throw new NodeFault('refused', `HTTP status ${status}`);
  }
  const oversized = () => new NodeFault('oversized', `the answer is over ${maxBytes} bytes`);
  return readText(decompressed(response), maxBytes, oversized);
}

function decompressed(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  // A failure surfaces where the last stream is read.
  return pipeline(response, createGunzip(), () => {});
}

function parse(response: IncomingMessage, id: number, text: string): RpcAnswer {
  const answer = readAnswer(parseJson(text), id);
  const status = response.statusCode ?? 0;
  if (answer === undefined && status !== 200) throw new NodeFault('refused', `HTTP status ${status}`);
  if (answer === undefined) throw new NodeFault('malformed', 'the answer is not JSON-RPC');
  return answer;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'connection failed';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
