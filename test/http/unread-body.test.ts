import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { fixtureApp, goodKey, id, verifier } from './support.ts';

let verified = Promise.withResolvers<void>();
const read: string[] = [];
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
  request.on('newListener', (event) => event === 'data' && read.push('reading'));
});
afterAll(() => server.close());

function open(): Socket {
  return connect((server.address() as AddressInfo).port, '127.0.0.1'); // it listens on TCP
}

/** Everything that comes until the text has come, or the connection ends. */
function until(socket: Socket, text: string): Promise<string> {
  return new Promise((resolve) => {
    let all = '';
    const add = (chunk: Buffer) => {
      all += chunk;
      if (all.includes(text)) done();
    };
    const done = () => {
      socket.off('data', add);
      resolve(all);
    };
    socket.on('data', add);
    socket.once('close', done);
  });
}

const head = (key: string, rest: string) =>
  `POST /api/thing HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n${rest}\r\n\r\n`;
const get = `GET /api/thing/${id} HTTP/1.1\r\nhost: x\r\nx-api-key: ${goodKey}\r\n\r\n`;

describe('a body', () => {
  test('is not read before the key is verified', async () => {
    verified = Promise.withResolvers();
    read.length = 0;
    const socket = open();
    socket.write(`${head(goodKey, 'content-type: application/json\r\ncontent-length: 12')}{"name":"a"}`);
    await new Promise((resolve) => server.once('request', resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toEqual([]);
    verified.resolve();
    expect(await until(socket, '"a"')).toContain('HTTP/1.1 200');
    expect(read).not.toEqual([]);
    socket.destroy();
  });

  test('that is refused unread leaves the connection usable', async () => {
    verified.resolve();
    const socket = open();
    const size = 3_000_000;
    socket.write(head('nobody', `content-length: ${size}`));
    socket.write(Buffer.alloc(size));
    expect(await until(socket, 'api_key_invalid')).toContain('HTTP/1.1 401');
    socket.write(get);
    expect(await until(socket, id)).toContain('HTTP/1.1 200');
    socket.destroy();
  });

  test('that is too large is refused before it has been sent', async () => {
    const socket = open();
    socket.write(head(goodKey, 'content-type: application/json\r\ncontent-length: 50000000'));
    expect(await until(socket, 'body_too_large')).toContain('HTTP/1.1 413');
    socket.destroy();
  });

  test('that turns out to be too large is refused while it is being sent', async () => {
    const socket = open();
    socket.write(head(goodKey, 'content-type: application/json\r\ntransfer-encoding: chunked'));
    socket.write(`19001\r\n${'x'.repeat(0x19_001)}\r\n`);
    expect(await until(socket, 'body_too_large')).toContain('HTTP/1.1 413');
    socket.destroy();
  });

  test('without end is cut off', async () => {
    const socket = open();
    socket.on('error', () => {});
    socket.write(head('nobody', 'transfer-encoding: chunked'));
    await until(socket, 'api_key_invalid');
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
