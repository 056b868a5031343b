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

/** A request with every fault from the given check on; all before it are passed. */
const faults = [
  { from: 'route', path: '/api/nothing', method: 'put', status: 404 },
  { from: 'method', path: '/api/thing', method: 'put', status: 405 },
  { from: 'key', path: '/api/thing', method: 'post', status: 401 },
  { from: 'company', path: '/api/thing', method: 'post', key: 'lonely', status: 403 },
  {
    from: 'scope',
    path: '/api/thing',
    method: 'post',
    key: 'limited',
    status: 403,
    code: 'insufficient_scope',
  },
  { from: 'rate limit', path: '/api/thing', method: 'post', key: goodKey, status: 429 },
  { from: 'size', path: '/api/thing', method: 'post', key: goodKey, limiter: generous, status: 413 },
  {
    from: 'type',
    path: '/api/thing',
    method: 'post',
    key: goodKey,
    limiter: generous,
    body: '{',
    status: 415,
  },
  {
    from: 'JSON',
    path: '/api/thing',
    method: 'post',
    key: goodKey,
    limiter: generous,
    body: '{',
    type: 'application/json',
    status: 400,
    code: 'json_malformed',
  },
  {
    from: 'input',
    path: '/api/thing',
    method: 'post',
    key: goodKey,
    limiter: generous,
    body: '{}',
    type: 'application/json',
    status: 400,
    code: 'input_invalid',
  },
] as const;

describe('the order of checks', () => {
  test.each(faults)('answers for the $from when it and all after it are wrong', async (fault) => {
    const app = await fixtureApp({
      limiter: 'limiter' in fault ? fault.limiter : exhausted,
      handlers: {
        createThing: async () => {
          throw problem('event_not_found');
        },
      },
    });
    const call = supertest(app)
      [fault.method](`${fault.path}?unknown=1`)
      .set('content-type', 'type' in fault ? fault.type : 'text/plain');
    if ('key' in fault) call.set('x-api-key', fault.key);
    const response = await call.send('body' in fault ? fault.body : tooLarge);
    expect(response.status).toBe(fault.status);
    expect(response.type).toBe('application/problem+json');
    if ('code' in fault) expect(response.body.code).toBe(fault.code);
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
