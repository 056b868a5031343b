import { connect, type Socket } from 'node:net';
import request from 'supertest';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ItemStream } from '../../src/contract/item-stream.ts';
import { type HttpServer, listen } from '../../src/http/server/listener.ts';
import { createLogger } from '../../src/log.ts';
import { type FixtureHandler, fixtureApp, goodKey } from './support.ts';

const log = createLogger({ level: 'silent' });
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(getPublic: FixtureHandler, maxAnswerBytes: number): Promise<HttpServer> {
  const app = await fixtureApp({ handlers: { getPublic, claimThing: getPublic }, maxAnswerBytes });
  const place = { host: '127.0.0.1', port: 0, settings: { host: 'HOST', port: 'PORT' } };
  const server = await listen(app, { ...place, log });
  ends.push(() => server.stop(0));
  return server;
}

/** A caller that asks and reads nothing. */
function ask(server: HttpServer): Socket {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write('GET /api/public HTTP/1.1\r\nhost: x\r\n\r\n');
  ends.push(() => socket.destroy());
  return socket;
}

const get = (server: HttpServer) => request(`http://127.0.0.1:${server.port}`).get('/api/public');
const large = 'x'.repeat(8_000_000);

describe('answers that nobody reads', () => {
  test('may take so much memory in all; then reads are refused, until those callers have gone', async () => {
    const handled = vi.fn(async () => ({ status: 200, body: { large } }));
    const server = await start(handled, 20_000_000);
    const callers = [ask(server), ask(server)];
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(2));
    const refused = await get(server).expect(503);
    expect([refused.body.code, refused.headers['retry-after']]).toEqual(['overloaded', '1']);
    for (const caller of callers) caller.destroy();
    await vi.waitFor(() => get(server).expect(200));
  });

  test('never hide that something was changed', async () => {
    const handled = vi.fn(async () => ({ status: 200, body: { large } }));
    const server = await start(handled, 10_000_000);
    ask(server);
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(1));
    const post = request(`http://127.0.0.1:${server.port}`)
      .post('/api/thing/claim')
      .set('x-api-key', goodKey);
    await post.expect(200);
  });
});

describe('a streamed answer', () => {
  const batchesOf = async function* (made: number[], count: number) {
    for (let index = 0; index < count; index += 1) {
      made.push(index);
      yield Array.from({ length: 100 }, (_, item) => ({ index, item, text: 'x'.repeat(1_000) }));
    }
  };

  test('is whole and valid JSON, alone or in a field', async () => {
    const inField = await start(
      async () => ({
        status: 200,
        body: { a: 1, none: undefined, items: new ItemStream(batchesOf([], 3)), z: [2] },
      }),
      Number.POSITIVE_INFINITY,
    );
    const { body } = await get(inField).expect(200);
    expect([body.a, body.items.length, body.items[299].index, body.z]).toEqual([1, 300, 2, [2]]);
    const alone = await start(async () => ({ status: 200, body: new ItemStream([]) }), 1);
    expect((await get(alone).expect(200)).text).toBe('[]');
  });

  test('is made no faster than it is read, and not at all for a caller who has gone', async () => {
    const made: number[] = [];
    let isEnded = false;
    const source = async function* () {
      try {
        yield* batchesOf(made, 1_000_000);
      } finally {
        isEnded = true;
      }
    };
    const server = await start(async () => ({ status: 200, body: new ItemStream(source()) }), 1);
    const caller = ask(server);
    await vi.waitFor(() => expect(made.length).toBeGreaterThan(1));
    const health = await request(`http://127.0.0.1:${server.port}`).get('/api/nothing');
    expect(health.status).toBe(404);
    // What the kernel takes between two processes is a few MB.
    expect(made.length).toBeLessThan(200);
    caller.destroy();
    await vi.waitFor(() => expect(isEnded).toBe(true));
  });

  test('is cut, never ended, when it cannot go on', async () => {
    const source = async function* () {
      yield* batchesOf([], 2);
      throw new Error('the database is gone');
    };
    const server = await start(async () => ({ status: 200, body: new ItemStream(source()) }), 1);
    await expect(get(server)).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });
});
