import supertest from 'supertest';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { problem } from '../../src/base/errors.ts';
import type { VerifyResult } from '../../src/keys/verifier.ts';
import { fixture } from './fixture.ts';
import { documentApp, type FixtureHandler, fixtureApp, goodKey, id } from './support.ts';

afterEach(() => vi.useRealTimers());

async function callWith(verify: (key: string) => Promise<VerifyResult>) {
  const handled = vi.fn(async () => ({ status: 200, body: {} }));
  const app = await fixtureApp({
    verifier: { verify, close: async () => {} },
    handlers: { getThing: handled },
  });
  const response = await supertest(app).get(`/api/thing/${id}`).set('x-api-key', goodKey);
  expect(handled).not.toHaveBeenCalled();
  return response;
}

describe('a verifier that does not say yes', () => {
  const throwing: readonly (readonly [string, () => unknown])[] = [
    ['an error', () => new Error('down')],
    ['a problem', () => problem('auth_unavailable')],
    ['undefined', () => undefined],
    ['null', () => null],
    ['a text', () => 'down'],
  ];

  test.each(throwing)('is 503 with Retry-After when it throws %s', async (_what, make) => {
    const response = await callWith(() => Promise.reject(make()));
    expect(response.status).toBe(503);
    expect(response.body.code).toBe('auth_unavailable');
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  test('is 503 when it throws at once, not by its promise', async () => {
    const response = await callWith(() => {
      throw new Error('down');
    });
    expect(response.body.code).toBe('auth_unavailable');
  });

  const nonsense: unknown[] = [
    undefined,
    null,
    {},
    true,
    'ok',
    { ok: 1 },
    { ok: true },
    { ok: true, caller: {} },
  ];
  test.each(nonsense)('is 503 when it answers %j', async (answer) => {
    const response = await callWith(async () => answer as VerifyResult); // what a broken verifier might give
    expect([response.status, response.body.code]).toEqual([503, 'auth_unavailable']);
  });

  test('is 503 when it is slow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const called = Promise.withResolvers<void>();
    const answer = callWith(() => {
      called.resolve();
      return new Promise(() => {});
    });
    await called.promise;
    vi.advanceTimersByTime(10_000);
    expect((await answer).body.code).toBe('auth_unavailable');
  });

  test('is 429 with its own time when the service behind it limits the key', async () => {
    const response = await callWith(async () => ({
      ok: false,
      reason: 'rate_limited',
      retryAfterSeconds: 7,
    }));
    expect([response.status, response.headers['retry-after']]).toEqual([429, '7']);
  });
});

describe('a limiter that fails', () => {
  test('lets nobody through', async () => {
    const app = await fixtureApp({ limiter: { consume: () => Promise.reject(new Error('down')) } });
    const response = await supertest(app).get(`/api/thing/${id}`).set('x-api-key', goodKey);
    expect(response.status).toBe(500);
  });
});

const serve = (document: unknown, handlers: Record<string, FixtureHandler>) =>
  documentApp(document as typeof fixture, handlers);
const only = (operation: object) => ({
  ...fixture,
  paths: { '/a': { get: { operationId: 'a', 'x-required-scope': 'none', responses: {}, ...operation } } },
});
const handlers = { a: async () => ({ status: 200 }) };

describe('an app that cannot keep its contract does not start', () => {
  test('when an operation has no handler', async () => {
    await expect(serve(only({}), {})).rejects.toThrow('operations without a handler: a');
  });

  test('when a handler has no operation', async () => {
    await expect(serve(only({}), { ...handlers, b: handlers.a })).rejects.toThrow(
      'handlers without an operation: b',
    );
  });

  test.each([[[{}]], [[{ ApiKey: [] }, {}]], [[{ Other: [] }]], [[{ ApiKey: [], Other: [] }]]])(
    'when its security is neither the key nor nothing: %j',
    async (security) => {
      await expect(serve(only({ security }), handlers)).rejects.toThrow('security must be ApiKey alone');
    },
  );

  test('when it says nothing of security', async () => {
    const { security: _, ...open } = only({});
    await expect(serve(open, handlers)).rejects.toThrow('the document has no security');
  });

  test.each([
    { name: 'x', in: 'query', schema: { type: 'array' } },
    { name: 'x', in: 'header', schema: { type: 'integer' } },
    { name: 'x', in: 'cookie', schema: { type: 'string' } },
  ])('when it has a parameter that is not read: %j', async (parameter) => {
    await expect(serve(only({ parameters: [parameter] }), handlers)).rejects.toThrow('a:');
  });

  test('when it has a body that is not read', async () => {
    const requestBody = { content: { 'text/plain': { schema: { type: 'string' } } } };
    await expect(serve(only({ requestBody }), handlers)).rejects.toThrow('only application/json');
  });

  test.each([
    [{ 'x-message-required': 'X is required' }, 'come together'],
    [{ 'x-code-required': 'address_required' }, 'come together'],
    [{ 'x-message-required': 'X is required', 'x-code-required': 'x_required' }, 'x_required'],
  ])('when the words for a missing parameter name no problem: %j', async (words, reason) => {
    const parameters = [{ name: 'x', in: 'query', required: true, schema: { type: 'string', ...words } }];
    await expect(serve(only({ parameters }), handlers)).rejects.toThrow(reason);
  });
});

test('an operation whose schema has a word that nobody knows is never handled', async () => {
  const handled = vi.fn(async () => ({ status: 200, body: {} }));
  const parameters = [{ name: 'x', in: 'query', schema: { type: 'string', maxLenght: 5 } }];
  const app = await serve(only({ parameters }), { a: handled });
  const response = await supertest(app).get('/api/a').set('x-api-key', goodKey);
  expect([response.status, response.body.code]).toEqual([500, 'internal_error']);
  expect(handled).not.toHaveBeenCalled();
});
