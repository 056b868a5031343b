import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openTransport } from '../../src/chain/rpc/transport/open-transport.ts';
import type { Transport } from '../../src/chain/rpc/transport/transport.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';
import { closing } from '../support/closing.ts';
import { shut, startListening } from '../support/listen.ts';

const limits = { timeoutMs: 5_000, maxBytes: 1_000 };

/** A transport to a server of its own. */
async function startServer(listener: RequestListener, change = (url: string) => url): Promise<Transport> {
  const server = createServer(listener);
  onTestFinished(() => shut(server));
  const url = change(`http://127.0.0.1:${await startListening(server)}`);
  return closing(openTransport(url, { outgoing: createOutgoing(), label: 'node' }));
}

const answer = (id: unknown, size = 0) => JSON.stringify({ id, result: '0x1', filler: ' '.repeat(size) });

describe('JSON-RPC over HTTP', () => {
  test.each([200, 400])('tells no key of its URL that a node names, with status %s', async (status) => {
    const transport = await startServer(
      (request, response) => {
        void text(request).then((body) => {
          const error = { code: -32600, message: `No app at ${request.url}`, data: request.url };
          response.writeHead(status).end(JSON.stringify({ id: JSON.parse(body).id, error }));
        });
      },
      (url) => `${url}/v2/key-of-the-path?key=key-of-the-query`,
    );
    const hidden = '/v2/[redacted]?key=[redacted]';
    expect(await transport.ask('eth_call', [], limits)).toEqual({
      error: { code: -32600, message: `No app at ${hidden}`, data: hidden },
    });
  });

  test('asks again when the node has just closed the kept connection', async () => {
    const seen = new WeakSet<object>();
    const ids: unknown[] = [];
    const transport = await startServer((request, response) => {
      void text(request).then((body) => {
        const { id } = JSON.parse(body);
        ids.push(id);
        // The second request on a connection meets a closed door.
        if (seen.has(request.socket)) request.socket.destroy();
        else response.end(answer(id));
        seen.add(request.socket);
      });
    });
    // The second or third of them is sent on a connection that was used before.
    for (const _ of [1, 2, 3]) {
      expect(await transport.ask('eth_blockNumber', [], limits)).toEqual({ result: '0x1' });
    }
    expect(ids.length).toBeGreaterThan(3);
    expect(new Set(ids)).toEqual(new Set([1, 2, 3]));
  });

  test('reads errors that come with status 400, but no other text with it', async () => {
    let body = JSON.stringify({ id: null, error: { code: -32700, message: 'parse error' } });
    const transport = await startServer((_request, response) => response.writeHead(400).end(body));
    expect(await transport.ask('eth_blockNumber', [], limits)).toMatchObject({ error: { code: -32700 } });
    body = 'Bad Request';
    await expect(transport.ask('eth_blockNumber', [], limits)).rejects.toMatchObject({ reason: 'refused' });
  });

  test('sends path, query and credentials of the URL', async () => {
    const seen: unknown[] = [];
    const transport = await startServer(
      (request, response) => {
        seen.push(request.url, request.headers.authorization);
        response.end(answer(1));
      },
      (url) => `${url.replace('//', '//user:p%40ss@')}/v3/key?token=1#fragment`,
    );
    await transport.ask('eth_blockNumber', [], limits);
    expect(seen).toEqual(['/v3/key?token=1', `Basic ${btoa('user:p@ss')}`]);
  });
});
