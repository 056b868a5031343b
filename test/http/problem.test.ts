import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { type FixedCode, problem } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import { toProblem } from '../../src/http/server/problem.ts';
import { type FixtureHandler, fixtureApp, goodKey, id } from './support.ts';

type Line = Record<string, unknown>;

async function callWith(handler: FixtureHandler, headers: Record<string, string> = {}) {
  const lines: Line[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(JSON.parse(line)) } });
  const app = await fixtureApp({ log, handlers: { getThing: handler } });
  const response = await supertest(app)
    .get(`/api/thing/${id}`)
    .set({ 'x-api-key': goodKey, ...headers });
  return { response, lines };
}

const failing =
  (error: unknown): FixtureHandler =>
  () =>
    Promise.reject(error);
const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });

describe('an error that nobody expected', () => {
  const secret = 'select * from nfts where secret = 42';

  test('is 500 and says nothing of the inside', async () => {
    const { response } = await callWith(failing(new Error(secret)));
    expect(response.status).toBe(500);
    expect(response.body).toEqual({
      type: '/docs/problems/internal_error',
      title: 'Internal Server Error',
      status: 500,
      detail: 'An unexpected error occurred.',
      code: 'internal_error',
      requestId: response.headers['x-request-id'],
    });
    expect(JSON.stringify(response.headers)).not.toContain('select');
  });

  test('is logged with its cause and the id of the request', async () => {
    const { response, lines } = await callWith(failing(new Error(secret)));
    const line = lines.find(({ msg }) => msg === 'request failed');
    expect(JSON.stringify(line)).toContain(secret);
    expect(line).toMatchObject({ requestId: response.headers['x-request-id'], operationId: 'getThing' });
  });

  test.each([undefined, null, 'text', 5, {}])('is 500 when %j is thrown', async (thrown) => {
    expect((await callWith(failing(thrown))).response.body.code).toBe('internal_error');
  });

  test('is 500 when an answer cannot be written as JSON', async () => {
    const { response } = await callWith(async () => ({ status: 200, body: { amount: 1n } }));
    expect([response.status, response.type]).toEqual([500, 'application/problem+json']);
  });
});

describe('a database that cannot be reached', () => {
  const errors = [
    coded('ECONNREFUSED'),
    coded('57P01', 'terminating connection due to administrator command'),
    coded('57P03'),
    coded('53300'),
    coded('08006'),
    coded('40P01'),
    new Error('Connection terminated unexpectedly'),
    new Error('ROLLBACK - Connection terminated unexpectedly'),
    new Error('COMMIT; - Client has encountered a connection error and is not queryable'),
    new Error('timeout expired'),
    Object.assign(new Error('Knex: Timeout acquiring a connection'), { name: 'KnexTimeoutError' }),
    new Error('wrapped', { cause: coded('ECONNRESET') }),
  ];

  test.each(errors)('is 503 with Retry-After: %s', async (error) => {
    const { response } = await callWith(failing(error));
    expect([response.status, response.body.code]).toEqual([503, 'service_unavailable']);
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  test.each(['23505', '42P01', 'ENOENT', '080', 'X0800'])('is not what %s means', (code) => {
    expect(toProblem(coded(code)).code).toBe('internal_error');
  });
});

describe('a problem', () => {
  test('is told as it is, with its headers', async () => {
    const thrown = problem('secret_locked', {}, { headers: { 'Retry-After': '77' } });
    const { response } = await callWith(failing(thrown));
    expect([response.status, response.headers['retry-after']]).toEqual([429, '77']);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.body.errors).toBeUndefined();
  });

  const retryable: FixedCode[] = [
    'auth_unavailable',
    'service_unavailable',
    'overloaded',
    'idempotency_in_progress',
    'history_unavailable',
    'nfts_unavailable',
    'balance_unavailable',
  ];
  test.each(retryable)('%s says when to come back', async (code) => {
    const { response } = await callWith(failing(problem(code)));
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });
});

describe('every response', () => {
  const paths = [
    '/api/public',
    `/api/thing/${id}`,
    '/api/nothing',
    '/nothing',
    '/%zz',
    '/',
    '/api/thing/%zz',
  ];

  test.each(paths)('has an id, and says nothing about the server: %s', async (path) => {
    const response = await supertest(await fixtureApp()).get(path);
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers['x-content-type-options']).toBe('nosniff');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.headers).not.toHaveProperty('x-powered-by');
    expect(response.headers).not.toHaveProperty('etag');
    if (response.status >= 400) expect(response.body.requestId).toBe(response.headers['x-request-id']);
  });

  test.each(['a', 'A-b_c.9', 'x'.repeat(128)])("takes over the caller's id: %s", async (given) => {
    const { response } = await callWith(async () => ({ status: 204 }), { 'x-request-id': given });
    expect(response.headers['x-request-id']).toBe(given);
  });

  test.each(['', 'a b', 'x'.repeat(129), 'ä', '<script>', 'a,b', '%41'])(
    'replaces an odd id: %s',
    async (given) => {
      const { response } = await callWith(async () => ({ status: 204 }), {
        'x-request-id': Buffer.from(given).toString('latin1'),
      });
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe('a reply', () => {
  test('keeps the headers of its handler', async () => {
    const headers = { 'Cache-Control': 'private, max-age=60', ETag: '"3"' };
    const { response } = await callWith(async () => ({ status: 200, body: [], headers }));
    expect(response.headers).toMatchObject({ 'cache-control': 'private, max-age=60', etag: '"3"' });
  });

  test('without a body has none', async () => {
    const { response } = await callWith(async () => ({ status: 204 }));
    expect([response.status, response.text, response.headers['content-type']]).toEqual([204, '', undefined]);
  });
});

describe('the log', () => {
  test('has one line a request, without anything that a caller sent but its id', async () => {
    const { lines } = await callWith(async () => ({ status: 204 }), { 'x-request-id': 'mine' });
    expect(lines).toHaveLength(1);
    const { time: _, ms, ...line } = lines[0] ?? {};
    expect(line).toEqual({
      level: 'info',
      service: 'tallystick',
      requestId: 'mine',
      area: 'fixture',
      operationId: 'getThing',
      path: '/api/thing/{id}',
      keyId: 'key-1',
      companyId: 'acme',
      method: 'GET',
      status: 204,
      msg: 'request',
    });
    expect(ms).toBeTypeOf('number');
  });

  test('of a handler carries the id of the request', async () => {
    const { lines } = await callWith(
      async (_input, { log }) => {
        log.info('inside');
        return { status: 204 };
      },
      { 'x-request-id': 'mine' },
    );
    expect(lines.find(({ msg }) => msg === 'inside')).toMatchObject({ requestId: 'mine' });
  });
});
