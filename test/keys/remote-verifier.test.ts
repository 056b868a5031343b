import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRemoteVerifier } from '../../src/keys/remote-verifier.ts';
import { createOutgoing, type Outgoing } from '../../src/outgoing/outgoing.ts';
import { expectUnavailable } from '../suites/key-verifier.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Answer, type AuthServer, credential, startHttpServer } from './auth-server.ts';

const key = 'the-key-of-a-caller';
const good = { valid: true, error: null, key: { id: 'k', referenceId: 'acme' } };
const admitted = {
  ok: true,
  caller: { keyId: 'k', companyId: 'acme', rateLimit: null, scopes: null, eventId: null },
};

let server: AuthServer;
let answer: Answer;
let asked: { method: string | undefined; headers: NodeJS.Dict<string | string[]>; body: string }[];
const closing: (() => Promise<void>)[] = [];

// Each test has a server of its own: a request that was given up may arrive during the next test.
beforeEach(async () => {
  asked = [];
  server = await startHttpServer((request, response, body) => {
    asked.push({ method: request.method, headers: request.headers, body });
    return answer(request, response, body);
  });
  // Beside other work an answer takes seconds. Only `timeoutMs` ends a call here.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0)) await close();
  await server.close();
});

type Changes = { url?: string; cacheSeconds?: number; timeoutMs?: number; outgoing?: Outgoing };

function verifier(over: Changes = {}) {
  const dialect = 'better-auth';
  const options = {
    url: server.url,
    credential,
    dialect,
    timeoutMs: 60_000,
    cacheSeconds: 10,
    cacheMax: 10,
    outgoing: createOutgoing(),
  } as const;
  const made = createRemoteVerifier({ ...options, ...over });
  closing.push(made.close);
  return made;
}

const json =
  (body: unknown, status = 200): Answer =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const text =
  (body: string): Answer =>
  (_request, response) =>
    response.end(body);

describe('the question', () => {
  test('is a POST of the key alone with the own credential', async () => {
    answer = json(good);
    expect(await verifier().verify(key)).toEqual(admitted);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
    });
  });

  test('is asked once more, and no more, when a kept connection is lost', async () => {
    const { verify } = verifier();
    const used = new WeakSet<object>();
    answer = (request, response, body) => {
      if (used.has(request.socket)) request.socket.destroy();
      else json(good)(request, response, body);
      used.add(request.socket);
    };
    expect(await verify(key)).toEqual(admitted);
    // The second or third of them is sent on a connection that was used before.
    for (const other of ['another', 'third']) expect(await verify(other)).toEqual(admitted);
    expect(asked.length).toBeGreaterThan(3);
    asked = [];
    answer = (request) => request.socket.destroy();
    for (const outcome of await Promise.allSettled([verifier().verify(key)])) expectUnavailable(outcome);
    expect(asked).toHaveLength(1);
  });

  test('cannot be sent to a URL with a user in it', () => {
    expect(() => verifier({ url: 'http://user:pass@127.0.0.1/' })).toThrow('AUTH_CREDENTIAL');
  });
});

describe('an answer that is none', () => {
  const endless: Answer = (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(16_384)));
    };
    response.on('drain', more);
    more();
  };
  const trickle: Answer = (_request, response) => {
    response.write('{"valid":');
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  };

  const silent = [
    ['an answer that trickles', trickle],
    ['silence', () => {}],
  ] as const satisfies [string, Answer][];

  test.each<[string, Answer]>(silent)('lets nobody in when its time is over: %s', async (_what, given) => {
    answer = given;
    const [outcome] = await Promise.allSettled([verifier({ timeoutMs: 300 }).verify(key)]);
    if (outcome) expectUnavailable(outcome);
    expect(inspect(outcome, { depth: 10 })).toContain('no answer within 300 ms');
    expect(inspect(outcome, { depth: 10 })).not.toContain(key);
    // It may be given up before it arrives.
    expect(asked.length).toBeLessThan(2);
  });

  test.each<[string, Answer]>([
    ['a redirect', (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end()],
    ['an empty body', text('')],
    ['no content', (_request, response) => response.writeHead(204).end()],
    ['a page', text('<html>welcome</html>')],
    ['the word true', text('true')],
    ['half an answer', text('{"valid":true,"key":{"id":"k"')],
    ['the question itself', (_request, response, body) => response.end(body)],
    ['valid as a text', json({ ...good, valid: 'true' })],
    ['valid without a key', json({ valid: true, error: null, key: null })],
    ['a good answer after 100 kB', text(`${' '.repeat(100_000)}${JSON.stringify(good)}`)],
    ['bytes without end', endless],
    ...[400, 401, 403, 404, 429, 500, 503].map((status): [string, Answer] => [
      `status ${status}`,
      json(good, status),
    ]),
  ])('lets nobody in: %s', async (_what, given) => {
    answer = given;
    const [outcome] = await Promise.allSettled([verifier().verify(key)]);
    if (outcome) expectUnavailable(outcome);
    expect(asked).toHaveLength(1);
    // The whole chain of causes may be logged.
    const logged = inspect(outcome, { depth: 10 });
    expect(logged).not.toContain(key);
    expect(logged).not.toContain(credential);
  });
});

test('is not asked for a while once it failed for seconds, lets nobody in, and says when to come back', async () => {
  let now = 1_000_000;
  const { verify } = verifier({ outgoing: createOutgoing({ now: () => now }) });
  answer = (request) => request.socket.destroy();
  for (const failing of ['one', 'two']) {
    now += 2_000;
    await expect(verify(failing)).rejects.toMatchObject({ headers: { 'Retry-After': '2' } });
  }
  expect(asked).toHaveLength(2);
  asked = [];
  answer = json(good);
  const outcomes = await Promise.allSettled([verify(key), verify('another')]);
  outcomes.forEach(expectUnavailable);
  expect(outcomes).toMatchObject(outcomes.map(() => ({ reason: { headers: { 'Retry-After': '1' } } })));
  expect(inspect(outcomes, { depth: 10 })).toContain(
    'the circuit breaker of authentication http://127.0.0.1',
  );
  expect(asked).toEqual([]);
  now += 1_000;
  expect(await verify(key)).toEqual(admitted);
  expect(await verify('another')).toEqual(admitted);
});

test('sends no more than 16 requests at once for unknown keys, however many networks they come from', async () => {
  let running = 0;
  let most = 0;
  const held = Promise.withResolvers<void>();
  answer = async (_request, response) => {
    running += 1;
    most = Math.max(most, running);
    await held.promise;
    running -= 1;
    response.end(JSON.stringify({ valid: false, error: { code: 'NOT_FOUND' }, key: null }));
  };
  const { verify } = verifier();
  const outcomes = Promise.all(
    Array.from({ length: 100 }, (_, index) => verify(`invented-${index}`, { network: `network ${index}` })),
  );
  await waitFor(() => expect(running).toBe(16));
  held.resolve();
  expect((await outcomes).every(({ ok }) => !ok)).toBe(true);
  expect(most).toBe(16);
});

describe('many invented keys', () => {
  test('keep no key waiting that was accepted before', async () => {
    const held: (() => void)[] = [];
    const order: string[] = [];
    answer = json(good);
    const { verify } = verifier({ cacheSeconds: 0 });
    expect(await verify(key)).toEqual(admitted);
    answer = (request, response, body) => {
      order.push(JSON.parse(body).key);
      held.push(() => void json(good)(request, response, body));
    };
    const invented = Array.from({ length: 200 }, (_, index) =>
      verify(`invented-${index}`, { network: `network ${index}` }),
    );
    await waitFor(() => expect(held).toHaveLength(16));
    const known = verify(key);
    await waitFor(() => expect(order).toHaveLength(17));
    expect(order.at(-1)).toBe(key);
    answer = json(good);
    for (const end of held.splice(0)) end();
    expect(await known).toEqual(admitted);
    await Promise.all(invented);
  });
});
