import type { Socket } from 'node:net';
import request from 'supertest';
import { afterEach, describe, expect, type Mock, test, vi } from 'vitest';
import { ItemStream } from '../../src/contract/item-stream.ts';
import type { AnyReply } from '../../src/contract/operation.ts';
import { TextStream } from '../../src/contract/text-stream.ts';
import type { HttpServer } from '../../src/http/server/listener.ts';
import type { KeyVerifier } from '../../src/keys/verifier.ts';
import { open } from './raw-client.ts';
import { callerOf, type FixtureHandler, fixtureApp, goodKey, id, listenHere } from './support.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Each key is that of a company of its name, or of none. */
const verifier: KeyVerifier = {
  verify: async (key) => ({ ok: true, caller: callerOf(key.startsWith('lone') ? null : key, key) }),
  close: async () => {},
};

async function start(handler: FixtureHandler, maxAnswerBytes: number): Promise<HttpServer> {
  const handlers = { getThing: handler, claimThing: handler };
  const app = await fixtureApp({ handlers, verifier, maxAnswerBytes, isCompanyRequired: false });
  const server = await listenHere(app);
  ends.push(() => server.stop(0));
  return server;
}

const path = `/api/thing/${id}`;
// Answers of 8 MB take their time where much else runs.
const patient = { timeout: 60_000 };

/** A caller that asks and reads nothing. */
function ask(server: HttpServer, company = 'acme'): Socket {
  const socket = open(server.port, `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${company}\r\n\r\n`);
  socket.pause();
  ends.push(() => socket.destroy());
  return socket;
}

/** Callers that read nothing, one after the other. */
async function askMany(server: HttpServer, count: number, handled: Mock, company?: string) {
  const before = handled.mock.calls.length;
  const callers: Socket[] = [];
  for (let index = 1; index <= count; index += 1) {
    callers.push(ask(server, company));
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(before + index), patient);
  }
  return callers;
}

const get = (server: HttpServer, company = 'acme') =>
  request(`http://127.0.0.1:${server.port}`).get(path).set('x-api-key', company);
const large = 'x'.repeat(8_000_000);

describe('answers that nobody reads', () => {
  test('may take so much memory in all; then reads are refused, until those callers have gone', async () => {
    const handled = vi.fn(async () => ({ status: 200, body: { large } }));
    const server = await start(handled, 20_000_000);
    const callers = [
      ...(await askMany(server, 1, handled)),
      ...(await askMany(server, 1, handled, 'globex')),
    ];
    const refused = await get(server, 'initech').expect(503);
    expect([refused.body.code, refused.headers['retry-after']]).toEqual(['overloaded', '1']);
    for (const caller of callers) caller.destroy();
    await vi.waitFor(() => get(server).expect(200), patient);
  });

  test('of one company take half of what is free, and leave the others theirs', async () => {
    const handled = vi.fn(async () => ({ status: 200, body: { large } }));
    const server = await start(handled, 60_000_000);
    await askMany(server, 20, handled);
    await get(server).expect(503);
    // Three of acme's stand unread; of what is left globex may have more than one.
    await askMany(server, 1, handled, 'globex');
    await get(server, 'globex').expect(200);
  });

  test('of a key without a company keep no other such key from its own', async () => {
    const handled = vi.fn(async () => ({ status: 200, body: { large } }));
    const server = await start(handled, 20_000_000);
    await askMany(server, 3, handled, 'lone 1');
    await get(server, 'lone 1').expect(503);
    await get(server, 'lone 2').expect(200);
  });

  test('never keep a usual page from a company that has left none unread, however little is free', async () => {
    const handled = vi.fn(async () => ({ status: 200, body: { large } }));
    const server = await start(handled, 16_000_100);
    for (const company of ['acme', 'globex']) await askMany(server, 1, handled, company);
    handled.mockResolvedValue({ status: 200, body: { large: 'x'.repeat(60_000) } });
    const answers = await Promise.all(['hooli', 'initech'].map((company) => get(server, company)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('never hide that something was changed', async () => {
    const handled = vi.fn(async () => ({ status: 200, body: { large } }));
    const server = await start(handled, 10_000_000);
    await askMany(server, 2, handled);
    const post = request(`http://127.0.0.1:${server.port}`)
      .post('/api/thing/claim')
      .set('x-api-key', goodKey);
    await post.expect(200);
  });
});

describe('streams that nobody reads', () => {
  const piece = 'x'.repeat(64 * 1024);
  async function* pieces() {
    for (;;) yield piece;
  }
  async function* batches() {
    for (;;) yield [piece];
  }
  const kinds: [string, (heldBytes: number) => AnyReply['body']][] = [
    ['of items', (heldBytes) => new ItemStream(batches(), heldBytes)],
    ['of text', (heldBytes) => new TextStream('text/csv; charset=utf-8', pieces(), heldBytes)],
  ];

  test.each(kinds)('%s count by what they hold, and are refused before their head', async (_kind, body) => {
    const handled = vi.fn(async () => ({ status: 200, body: body(2_000_000) }));
    const server = await start(handled, 20_000_000);
    await askMany(server, 30, handled);
    const refused = await get(server).expect(503);
    expect(refused.body.code).toBe('overloaded');
    // Four of two MB and a piece leave more than they take; the fifth would not.
    handled.mockResolvedValue({ status: 200, body: body(1_900_000) });
    await get(server).expect(503);
  });

  test('wait when they come to hold more than there is room for, and are cut when there is none in time', async () => {
    const growing = () => {
      const body: ItemStream<unknown> = new ItemStream(grow(), 0);
      async function* grow(): AsyncGenerator<unknown[]> {
        yield [piece];
        body.heldBytes = 19_000_000;
        yield [piece];
      }
      return body;
    };
    const handled = vi.fn(async () => ({ status: 200, body: { large } }) as AnyReply);
    const server = await start(handled, 20_000_000);
    const [unread] = await askMany(server, 1, handled, 'globex');
    handled.mockResolvedValueOnce({ status: 200, body: growing() });
    await expect(get(server)).rejects.toThrow(/aborted|hang up|ECONNRESET/);
    handled.mockResolvedValueOnce({ status: 200, body: growing() });
    const whole = get(server)
      .expect(200)
      .then(({ body }) => body.length);
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(3), patient);
    unread?.destroy();
    expect(await whole).toBe(2);
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
        body: { a: 1, none: undefined, items: new ItemStream(batchesOf([], 3), 0), z: [2] },
      }),
      Number.POSITIVE_INFINITY,
    );
    const { body } = await get(inField).expect(200);
    expect([body.a, body.items.length, body.items[299].index, body.z]).toEqual([1, 300, 2, [2]]);
    const alone = await start(async () => ({ status: 200, body: new ItemStream([], 0) }), 1);
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
    const server = await start(async () => ({ status: 200, body: new ItemStream(source(), 0) }), 1);
    const caller = ask(server);
    await vi.waitFor(() => expect(made.length).toBeGreaterThan(1), patient);
    const health = await request(`http://127.0.0.1:${server.port}`).get('/api/nothing');
    expect(health.status).toBe(404);
    // What the kernel takes between two processes is a few MB.
    expect(made.length).toBeLessThan(200);
    caller.destroy();
    await vi.waitFor(() => expect(isEnded).toBe(true), patient);
  });

  test('is cut, never ended, when it cannot go on', async () => {
    const source = async function* () {
      yield* batchesOf([], 2);
      throw new Error('the database is gone');
    };
    const server = await start(async () => ({ status: 200, body: new ItemStream(source(), 0) }), 1);
    await expect(get(server)).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });
});
