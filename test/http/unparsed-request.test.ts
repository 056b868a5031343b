import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { waitFor } from '../support/wait-for.ts';
import { open, read, send as sendTo } from './raw-client.ts';
import { fixtureApp, goodKey, id, listenHere } from './support.ts';

const lines: Record<string, unknown>[] = [];
const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(JSON.parse(line)) } });
let held = Promise.resolve();
const echo = async (input: unknown) => {
  await held;
  return { status: 200, body: input };
};
const app = await fixtureApp({ log, handlers: { getThing: echo } });
const server = await listenHere(app, { log });
afterAll(() => server.stop(0));
beforeEach(() => {
  lines.length = 0;
  held = Promise.resolve();
});

const send = (bytes: string, until?: string) => sendTo(server.port, bytes, until);

const key = `x-api-key: ${goodKey}\r\n`;
const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nhost: x\r\n${key}${more}\r\n`;
const post = (headers: string, body: string) =>
  `POST /api/thing HTTP/1.1\r\nhost: x\r\n${key}content-type: application/json\r\n${headers}\r\n${body}`;
const chunked = 'transfer-encoding: chunked\r\n';

const problemOf = (answer: string) => JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n')));
const idOf = (answer: string) => /x-request-id: (\S+)/i.exec(answer)?.[1];

describe('what is not HTTP', () => {
  const broken = {
    'two lengths': post('content-length: 2\r\ncontent-length: 3\r\n', '{} '),
    'a length beside chunks': post(`${chunked}content-length: 2\r\n`, '0\r\n\r\n'),
    'a header with U+0000': get(`/api/thing/${id}`, 'a: b\0\r\n'),
    'no host': `GET /api/thing/${id} HTTP/1.1\r\n${key}\r\n`,
    'two hosts': get(`/api/thing/${id}`, 'host: y\r\n'),
    'an unknown method': 'FOO / HTTP/1.1\r\nhost: x\r\n\r\n',
    'an address that is not encoded': get('/api/é'),
    'a connection of another protocol': '\x16\x03\x01\x02\x00\x01\r\n\r\n',
  };

  test.each(Object.entries(broken))('is a problem and one line of the log: %s', async (_name, bytes) => {
    const answer = await send(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('Content-Type: application/problem+json\r\n');
    expect(problemOf(answer)).toEqual({
      type: '/docs/problems/http_malformed',
      title: 'Bad Request',
      status: 400,
      detail: 'The request is not valid HTTP.',
      code: 'http_malformed',
      requestId: idOf(answer),
    });
    expect(lines).toMatchObject([{ code: 'http_malformed', status: 400, requestId: idOf(answer) }]);
  });

  test('is a problem of the request whose body it breaks off', async () => {
    const own = post(`${chunked}x-request-id: mine\r\n`, 'zz\r\n{}\r\n0\r\n\r\n');
    const answer = await send(own);
    expect(problemOf(answer)).toMatchObject({ code: 'http_malformed', requestId: 'mine' });
    // The status that was never sent is not told.
    const line = { requestId: 'mine', operationId: 'createThing', aborted: true };
    await waitFor(() => expect(lines).toMatchObject([line]));
    expect(lines[0]).not.toHaveProperty('status');
  });

  test('does not take the answer of the request before it', async () => {
    const release = Promise.withResolvers<void>();
    held = release.promise;
    const answer = send(`${get(`/api/thing/${id}`)}nonsense\r\n\r\n`);
    setImmediate(release.resolve);
    expect((await answer).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test.each([
    ['without a host', ''],
    ['behind an answer that takes its time', get(`/api/thing/${id}`)],
  ])('is not kept, however many follow: %s', async (_name, before) => {
    const release = Promise.withResolvers<void>();
    held = release.promise;
    let made = 0;
    const count = () => {
      made += 1;
    };
    subscribe('http.server.request.start', count);
    const socket = open(server.port, before);
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.resume().write('GET / HTTP/1.1\r\n\r\n'.repeat(500_000));
    await ended;
    unsubscribe('http.server.request.start', count);
    release.resolve();
    // What came with the one that was too many is read with it.
    expect(made).toBeLessThan(10_000);
    expect(await send(get(`/api/thing/${id}`), id)).toContain('HTTP/1.1 200');
  });

  test('is answered while the caller goes on sending', async () => {
    const answer = await send(post(chunked, `2;a=${'b'.repeat(2_000_000)}\r\n{}\r\n0\r\n\r\n`));
    expect(problemOf(answer).code).toBe('http_malformed');
  });
});

test('headers that are too large are 431', async () => {
  const answer = await send(get(`/api/thing/${id}`, `a: ${'b'.repeat(20_000)}\r\n`));
  expect(problemOf(answer)).toMatchObject({ status: 431, code: 'headers_too_large' });
});

test('CONNECT is 404, and a caller who hangs up at once harms nobody', async () => {
  const tunnel = 'CONNECT x:80 HTTP/1.1\r\nhost: x:80\r\n\r\n';
  expect(problemOf(await send(tunnel))).toMatchObject({ status: 404, code: 'not_found' });
  const socket = open(server.port);
  await new Promise<void>((resolve) => socket.write(tunnel, () => resolve()));
  socket.resetAndDestroy();
  expect(await send(get(`/api/thing/${id}`), id)).toContain('HTTP/1.1 200');
});

describe('an address with its host', () => {
  test.each(['http://x', 'HTTPS://other:1', 'http://[::1', 'http://%zz'])('is its path: %s', async (host) => {
    expect(await send(get(`${host}/api/thing/${id}`), id)).toContain('HTTP/1.1 200');
  });

  test.each(['http://x', 'http://x?a=1', 'http://[', '*'])('without a path is 404: %s', async (target) => {
    expect(await send(get(target), 'not_found')).toContain('application/problem+json');
  });
});

describe('a request that does not arrive in time', () => {
  test.each([
    ['headers', get(`/api/thing/${id}`).slice(0, -2)],
    ['a body', post('content-length: 12\r\n', '{"name":')],
    ['a chunk', post(chunked, '5\r\n{"na')],
    ['a body that nobody reads', post('content-length: 12\r\n', '{').replace(goodKey, 'nobody')],
  ])('is answered and its connection ended: %s', async (_name, bytes) => {
    const hasty = await listenHere(app, { log, arrivalTimeoutMs: 300 });
    const answer = await sendTo(hasty.port, bytes);
    // Without a key the body is of no account: the refusal has gone out before.
    const status = bytes.includes('nobody') ? 401 : 408;
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await hasty.stop(0);
  });
});

test('a connection that was opened long before its first request is answered', async () => {
  const hasty = await listenHere(app, { log, arrivalTimeoutMs: 300 });
  const ahead = open(hasty.port);
  await once(ahead, 'connect');
  const late = open(hasty.port, 'GET ');
  expect(await read(late)).toMatch(/^HTTP\/1\.1 408 /);
  ahead.write(get(`/api/thing/${id}`));
  expect(await read(ahead, id)).toMatch(/^HTTP\/1\.1 200 /);
  ahead.destroy();
  await hasty.stop(0);
});

describe('an expectation', () => {
  const waiting = (headers: string) => post(`expect: 100-continue\r\n${headers}`, '');

  test('is met once the body is wanted', async () => {
    const socket = open(server.port, waiting('content-length: 12\r\n'));
    expect(await read(socket, '\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{"name":"a"}');
    expect(await read(socket, '"a"')).toContain('HTTP/1.1 200');
    socket.destroy();
  });

  test.each([
    ['a key', waiting('content-length: 12\r\n').replace(goodKey, 'nobody'), 401],
    ['room for it', waiting('content-length: 200000\r\n'), 413],
  ])('is not met without %s', async (_name, bytes, status) => {
    const answer = await send(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/connection: close/i);
  });

  test('of another kind is let be', async () => {
    expect(await send(get(`/api/thing/${id}`, 'expect: tea\r\n'), id)).toContain('HTTP/1.1 200');
  });
});
