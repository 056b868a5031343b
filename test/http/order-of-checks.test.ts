import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { problem } from '../../src/base/errors.ts';
import type { Limiter } from '../../src/http/dispatch/limits.ts';
import { fixtureApp, goodKey, id, verifier } from './support.ts';

const exhausted: Limiter = {
  consume: async () => ({ headers: { RateLimit: '"default";r=0;t=1' }, retryAfterSeconds: 1 }),
};
const generous: Limiter = { consume: async () => ({ headers: { RateLimit: '"default";r=1;t=1' } }) };
const tooLarge = `"${'x'.repeat(103_000)}`;

const post = { path: '/api/thing', method: 'post', key: goodKey, limiter: exhausted } as const;
const within = { ...post, limiter: generous };

/** A request with every fault from the given check on; all before it are passed. */
const faults: readonly Fault[] = [
  { ...post, from: 'route', path: '/api/nothing', method: 'put', status: 404, code: 'not_found' },
  { ...post, from: 'method', method: 'put', status: 405, code: 'method_not_allowed' },
  { ...post, from: 'key', key: undefined, status: 401, code: 'api_key_missing' },
  { ...post, from: 'company', key: 'lonely', status: 403, code: 'company_required' },
  { ...post, from: 'scope', key: 'limited', status: 403, code: 'insufficient_scope' },
  { ...post, from: 'rate limit', status: 429, code: 'rate_limited' },
  { ...within, from: 'size', status: 413, code: 'body_too_large' },
  { ...within, from: 'type', body: '{', status: 415, code: 'media_type_unsupported' },
  { ...within, from: 'JSON', body: '{', type: 'application/json', status: 400, code: 'json_malformed' },
  { ...within, from: 'input', body: '{}', type: 'application/json', status: 400, code: 'input_invalid' },
];

type Fault = {
  readonly from: string;
  readonly path: string;
  readonly method: 'post' | 'put';
  readonly key: string | undefined;
  readonly limiter: Limiter;
  readonly body?: string;
  readonly type?: string;
  readonly status: number;
  readonly code: string;
};

describe('the order of checks', () => {
  test.each(faults)('answers for the $from when it and all after it are wrong', async (fault) => {
    const { path, method, key, limiter, body = tooLarge, type = 'text/plain', status, code } = fault;
    const createThing = () => Promise.reject(problem('event_not_found'));
    const app = await fixtureApp({ limiter, handlers: { createThing } });
    const call = supertest(app)[method](`${path}?unknown=1`).set('content-type', type);
    if (key !== undefined) call.set('x-api-key', key);
    const response = await call.send(body);
    expect([response.status, response.type]).toEqual([status, 'application/problem+json']);
    expect(response.body.code).toBe(code);
  });

  test('reaches the handler last, with everything right', async () => {
    const app = await fixtureApp({ limiter: generous });
    const response = await supertest(app).post('/api/thing').set('x-api-key', goodKey).send({ name: 'a' });
    expect(response.status).toBe(200);
  });

  test('tells the limit on every answer to a verified key, also on a refusal', async () => {
    const app = await fixtureApp({ limiter: generous });
    const lonely = await supertest(app).get(`/api/thing/${id}`).set('x-api-key', 'lonely');
    expect([lonely.status, lonely.headers['ratelimit']]).toEqual([403, '"default";r=1;t=1']);
    const unknown = await supertest(app).get(`/api/thing/${id}`).set('x-api-key', 'nobody');
    expect([unknown.status, unknown.headers['ratelimit']]).toEqual([401, undefined]);
  });

  test('counts no request of a key that is not verified', async () => {
    let counted = 0;
    const limiter: Limiter = {
      consume: async () => {
        counted += 1;
        return { headers: {} };
      },
    };
    const app = await fixtureApp({ limiter });
    await supertest(app).get(`/api/thing/${id}`).set('x-api-key', 'nobody');
    await supertest(app).get('/api/public');
    expect(counted).toBe(0);
  });
});

describe('404 and 405', () => {
  test.each(['/', '/api', '/api/', '/api/thing/', '/api//thing', '//api/thing', '/API/thing', '/api/Thing'])(
    'nothing answers at %s',
    async (path) => {
      const response = await supertest(await fixtureApp()).get(path);
      expect([response.status, response.body.code]).toEqual([404, 'not_found']);
    },
  );

  test.each(['get', 'put', 'head', 'options', 'trace'])(
    '%s on a POST path is 405 with Allow',
    async (method) => {
      const app = await fixtureApp();
      const call = supertest(app);
      const response = await (method === 'trace'
        ? call.trace('/api/thing/x/mint')
        : call[method as 'get' | 'put' | 'head' | 'options']('/api/thing/x/mint')); // one of the list above
      expect([response.status, response.headers['allow']]).toEqual([405, 'POST']);
    },
  );

  test('HEAD is answered where GET is, by the same headers and no body', async () => {
    const app = await fixtureApp();
    const read = await supertest(app).get(`/api/thing/${id}`).set('x-api-key', goodKey);
    const head = await supertest(app).head(`/api/thing/${id}`).set('x-api-key', goodKey);
    expect([head.status, head.text]).toEqual([read.status, undefined]);
    for (const name of ['content-type', 'content-length', 'cache-control']) {
      expect([name, head.headers[name]]).toEqual([name, read.headers[name]]);
    }
  });

  test('Allow lists the methods of a path without templates, and no others that would match', async () => {
    const response = await supertest(await fixtureApp()).delete('/api/thing/claim');
    expect(response.headers['allow']).toBe('POST');
  });
});

describe('401', () => {
  test.each([{}, { 'x-api-key': '' }, { 'x-api-key': '  ' }])(
    'says that the header is missing: %j',
    async (headers) => {
      const response = await supertest(await fixtureApp())
        .get(`/api/thing/${id}`)
        .set(headers);
      expect(response.status).toBe(401);
      expect(response.body).toMatchObject({ code: 'api_key_missing', detail: 'x-api-key header missing.' });
    },
  );

  test.each(['nobody', 'x'.repeat(513)])('says that the key is invalid', async (key) => {
    const response = await supertest(await fixtureApp())
      .get(`/api/thing/${id}`)
      .set('x-api-key', key);
    expect(response.status).toBe(401);
    expect(response.body).toMatchObject({ code: 'api_key_invalid', detail: 'Invalid API key.' });
  });

  test('never asks the verifier about an over-long key', async () => {
    const app = await fixtureApp({
      verifier: {
        ...verifier,
        verify: () => {
          throw new Error('asked');
        },
      },
    });
    const response = await supertest(app).get(`/api/thing/${id}`).set('x-api-key', 'x'.repeat(513));
    expect(response.status).toBe(401);
  });
});

describe('a public operation', () => {
  test('needs no key and looks at none', async () => {
    const response = await supertest(await fixtureApp())
      .get('/api/public')
      .set('x-api-key', 'nobody');
    expect(response.status).toBe(200);
  });
});
