import { once } from 'node:events';
import { connect, createServer, type LookupFunction } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSharedLookup } from '../../src/outgoing/shared-lookup.ts';
import { startListening } from '../support/listen.ts';

type Told = Parameters<LookupFunction>[2];

const server = createServer((socket) => void socket.on('error', () => {}));
let port: number;
beforeAll(async () => {
  port = await startListening(server);
});
afterAll(() => server.close());

/** Name servers that are silent until they are told to answer. */
function createSystem() {
  const asked: { readonly hostname: string; readonly tell: Told }[] = [];
  const lookUp: LookupFunction = (hostname, _options, tell) => void asked.push({ hostname, tell });
  return { asked, lookup: createSharedLookup(lookUp) };
}

const connectTo = (host: string, lookup: LookupFunction) => connect({ host, port, lookup });

describe('the lookup of a host that operators name', () => {
  test('is one question for all who connect meanwhile, who all get its answer', async () => {
    const { asked, lookup } = createSystem();
    const sockets = Array.from({ length: 20 }, () => connectTo('node.example', lookup));
    const connected = Promise.all(sockets.map((socket) => once(socket, 'connect')));
    expect(asked.map(({ hostname }) => hostname)).toEqual(['node.example']);
    asked[0]?.tell(null, [{ address: '127.0.0.1', family: 4 }]);
    await connected;
    for (const socket of sockets) socket.destroy();
  });

  test('fails for all who wait for it, and is asked anew by the next', async () => {
    const { asked, lookup } = createSystem();
    const failed = [1, 2].map(() => once(connectTo('node.example', lookup), 'connect'));
    asked[0]?.tell(Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' }), '');
    for (const attempt of failed) await expect(attempt).rejects.toThrow('EAI_AGAIN');
    connectTo('node.example', lookup).destroy();
    expect(asked).toHaveLength(2);
  });

  test('waits for no other name, nor for other kinds of addresses', () => {
    const { asked, lookup } = createSystem();
    const ignore = () => {};
    lookup('silent.example', { all: true }, ignore);
    lookup('other.example', { all: true }, ignore);
    lookup('silent.example', { all: true, family: 6 }, ignore);
    expect(asked.map(({ hostname }) => hostname)).toEqual([
      'silent.example',
      'other.example',
      'silent.example',
    ]);
  });
});
