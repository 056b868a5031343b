import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { open as openTo, read } from './raw-client.ts';
import { fixtureApp, goodKey, id, verifier } from './support.ts';

let verified = Promise.withResolvers<void>();
const begun: string[] = [];
const app = await fixtureApp({
  verifier: {
    ...verifier,
    verify: async (key) => {
      await verified.promise;
      return verifier.verify(key);
    },
  },
});
const server = app.listen(0);
server.on('request', (request) => {
  // Whoever reads a body listens for its data.
  request.on('newListener', (event) => event === 'data' && begun.push('reading'));
});
afterAll(() => server.close());

const open = (bytes: string) => openTo((server.address() as AddressInfo).port, bytes); // it listens on TCP

const head = (key: string, rest: string) =>
  `POST /api/thing HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n${rest}\r\n\r\n`;
const get = `GET /api/thing/${id} HTTP/1.1\r\nhost: x\r\nx-api-key: ${goodKey}\r\n\r\n`;

describe('a body', () => {
  test('is not read before the key is verified', async () => {
    verified = Promise.withResolvers();
    begun.length = 0;
    const text = head(goodKey, 'content-type: application/json\r\ncontent-length: 12');
    const socket = open(`${text}{"name":"a"}`);
    await new Promise((resolve) => server.once('request', resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual([]);
    verified.resolve();
    expect(await read(socket, '"a"')).toContain('HTTP/1.1 200');
    expect(begun).not.toEqual([]);
    socket.destroy();
  });

  test('that is refused unread leaves the connection usable', async () => {
    verified.resolve();
    const size = 3_000_000;
    const socket = open(head('nobody', `content-length: ${size}`));
    socket.write(Buffer.alloc(size));
    expect(await read(socket, 'api_key_invalid')).toContain('HTTP/1.1 401');
    socket.write(get);
    expect(await read(socket, id)).toContain('HTTP/1.1 200');
    socket.destroy();
  });

  test('that is too large is refused before it has been sent', async () => {
    const socket = open(head(goodKey, 'content-type: application/json\r\ncontent-length: 50000000'));
    expect(await read(socket, 'body_too_large')).toContain('HTTP/1.1 413');
    socket.destroy();
  });

  test('that turns out to be too large is refused while it is being sent', async () => {
    const socket = open(head(goodKey, 'content-type: application/json\r\ntransfer-encoding: chunked'));
    socket.write(`19001\r\n${'x'.repeat(0x19_001)}\r\n`);
    expect(await read(socket, 'body_too_large')).toContain('HTTP/1.1 413');
    socket.destroy();
  });

  test('without end is cut off', async () => {
    const socket = open(head('nobody', 'transfer-encoding: chunked'));
    await read(socket, 'api_key_invalid');
    const chunk = `100000\r\n${'x'.repeat(0x10_0000)}\r\n`;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const pump = () => {
      while (!socket.destroyed && socket.write(chunk)) {}
    };
    socket.on('drain', pump);
    pump();
    await closed;
    expect(socket.bytesWritten).toBeLessThan(60 * 1024 * 1024);
  });
});
