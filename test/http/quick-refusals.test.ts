import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import request from 'supertest';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type HttpServer, listen } from '../../src/http/server/listener.ts';
import { createLoadGuard } from '../../src/http/server/load-guard.ts';
import type { RawRequest } from '../../src/http/server/quick-refusals.ts';
import { createLogger } from '../../src/log.ts';
import { waitFor } from '../support/wait-for.ts';
import { send } from './raw-client.ts';

const log = createLogger({ level: 'silent' });
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Options = {
  readonly handler?: RequestListener;
  /** Whether the guard refuses a request before Node makes anything of it. */
  readonly refuses?: (request: RawRequest) => boolean;
  /** Sends refusals when it likes. */
  readonly pace?: (send: () => void, asksOn?: boolean) => void;
  /** Sees those that are no quick ones. */
  readonly refuse?: (response: ServerResponse) => void;
};

/** A server that refuses all but `/taken`. */
async function refusing({
  handler = (_request, response) => response.end('ok'),
  refuses,
  pace,
  refuse,
}: Options = {}) {
  const guard = createLoadGuard({ busyMs: 20, tenantOf: () => undefined });
  const quick: RawRequest[] = [];
  const counts = { shed: 0 };
  const server: HttpServer = await listen(handler, {
    ...{ host: '127.0.0.1', port: 0, settings: { host: 'HOST', port: 'PORT' }, log },
    guard: {
      ...guard,
      isRefusing: () => true,
      admit: (asked) => (asked.url === '/taken' ? guard.admit(asked) : undefined),
      refuses(asked) {
        if (asked.url === '/taken' || refuses?.(asked) === false) return false;
        quick.push(asked);
        return true;
      },
      pace: pace ?? guard.pace,
      refuse(response) {
        refuse?.(response);
        guard.refuse(response);
      },
    },
    onShed: () => {
      counts.shed += 1;
    },
  });
  ends.push(() => server.stop(0));
  return { server, quick, counts, send: (text: string, answers = 1) => send(server.port, text, answers) };
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;
const post = (body: string) =>
  `POST /refused HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const statuses = (answers: string) =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code));
/** Without what differs from answer to answer, in the order of the alphabet. */
const alike = (answer: string) =>
  answer
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'id')
    .replace(/Date: .*/, 'Date')
    .split('\r\n')
    .toSorted();

describe('a request that is refused before it is one', () => {
  test('gets the same as every other that is refused', async () => {
    const [quick, slow] = [await refusing(), await refusing({ refuses: () => false })];
    const answer = await quick.send(get('/refused', 'X-API-Key: k\r\n'));
    expect(alike(answer)).toEqual(alike(await slow.send(get('/refused'))));
    expect(quick.quick).toEqual([{ url: '/refused', key: 'k' }]);
    expect(slow.quick).toEqual([]);
    expect([quick.counts.shed, slow.counts.shed]).toEqual([1, 1]);
    const [, body = ''] = answer.split('\r\n\r\n');
    expect(JSON.parse(body)).toMatchObject({ code: 'overloaded', status: 503 });
    expect(answer).toContain(`X-Request-Id: ${JSON.parse(body).requestId}\r\n`);
    expect(answer).toMatch(/Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
  });

  test('keeps its connection, on which further ones are answered in their order', async () => {
    const { send, quick } = await refusing();
    const text = get('/refused') + get('/taken') + post('{"name":"Fair"}') + get('/taken') + get('/refused');
    expect(statuses(await send(text, 5))).toEqual([503, 200, 503, 200, 503]);
    // What comes behind an answer under way waits for it.
    expect(quick.length).toBeLessThan(3);
  });

  test('waits for an answer that takes its time', async () => {
    const { send, quick } = await refusing({
      handler: (_request, response) => setTimeout(() => response.end('ok'), 50),
    });
    expect(statuses(await send(get('/taken') + get('/refused'), 2))).toEqual([200, 503]);
    expect(quick).toEqual([]);
  });

  test('may wait for its refusal, and whatever comes behind it waits too', async () => {
    const held: (() => void)[] = [];
    const { server, send } = await refusing({ pace: (sendIt) => held.push(sendIt) });
    expect(statuses(await send(get('/refused') + get('/taken'), 2))).toEqual([503, 200]);
    const later = send(get('/refused'));
    await waitFor(() => expect(held).toHaveLength(2));
    // The first one is sent.
    for (const sendIt of held.splice(0)) sendIt();
    expect(statuses(await later)).toEqual([503]);
    const gone = connect(server.port, '127.0.0.1');
    gone.write(get('/refused'));
    await waitFor(() => expect(held).toHaveLength(1));
    gone.destroy();
    // It answers others, and has seen the end of that one.
    await send(get('/taken'));
    await send(get('/taken'));
    held[0]?.();
  });

  test('is told from one by who was refused before and does not wait as long as it was asked to', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const told: (boolean | undefined)[] = [];
    const { server, send } = await refusing({
      pace(sendIt, asksOn) {
        told.push(asksOn);
        sendIt();
      },
    });
    const socket = connect(server.port, '127.0.0.1');
    ends.push(() => socket.destroy());
    const ask = async (afterMs: number) => {
      vi.advanceTimersByTime(afterMs);
      socket.write(get('/refused'));
      await once(socket, 'data');
    };
    await ask(0);
    await ask(0);
    await ask(999);
    await ask(1_000);
    await send(get('/refused'));
    expect(told).toEqual([false, true, true, false, false]);
  });

  test('loses its body, however it comes', async () => {
    const { server, quick } = await refusing();
    const socket = connect(server.port, '127.0.0.1');
    ends.push(() => socket.destroy());
    const text = post('x'.repeat(64 * 1024)) + get('/taken');
    let answers = '';
    const done = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        answers += chunk.toString('latin1');
        if (statuses(answers).length === 2) resolve();
        else socket.write(text.slice(100));
      });
    });
    socket.write(text.slice(0, 100));
    await done;
    expect(statuses(answers)).toEqual([503, 200]);
    expect(quick).toHaveLength(1);
  });

  test.each([
    ['of HTTP/1.0', get('/refused').replace('1.1', '1.0'), [503]],
    ['that closes its connection', get('/refused', 'connection: close\r\n'), [503]],
    ['with two hosts', get('/refused', 'host: y\r\n'), [400]],
    ['without a host', 'GET /refused HTTP/1.1\r\n\r\n', [400]],
    ['in absolute form', get('http://x/refused'), [503]],
    ['that waits for leave to send', get('/refused', 'expect: 100-continue\r\ncontent-length: 2\r\n'), [503]],
    ['in chunks', `${get('/refused', 'transfer-encoding: chunked\r\n')}2\r\n{}\r\n0\r\n\r\n`, [503]],
    ['with much to come', get('/refused', 'content-length: 10000000\r\n'), [503]],
  ])('is an answer of Node where it is unusual: one %s', async (_kind, text, expected) => {
    const { send, quick } = await refusing();
    expect(statuses(await send(text))).toEqual(expected);
    expect(quick).toEqual([]);
  });

  test('has no body for who asks for the headers alone', async () => {
    const { server, quick } = await refusing();
    const { status, text } = await request(`http://127.0.0.1:${server.port}`).head('/refused');
    expect({ status, text, quick }).toEqual({ status: 503, text: undefined, quick: [] });
  });

  test('waits like every other for a caller that does not read, until its connection is closed', async () => {
    const left = Promise.withResolvers<boolean>();
    const { server, counts } = await refusing({
      pace: (sendIt) => sendIt(),
      refuse: (response) => response.once('close', () => left.resolve(response.writableFinished)),
    });
    const socket = connect(server.port, '127.0.0.1').pause();
    ends.push(() => socket.destroy());
    socket.on('error', () => {});
    socket.write(get('/refused').repeat(100_000));
    expect(await left.promise).toBe(false);
    expect(counts.shed).toBeLessThan(50_000);
  });

  test('with two keys has none that is known', async () => {
    const { send, quick } = await refusing();
    await send(get('/refused', 'x-api-key: a\r\nX-Api-Key: b\r\n'));
    expect(quick).toEqual([{ url: '/refused', key: '' }]);
  });

  test('is asked to connect to another process when this one is about to end', async () => {
    const { server, send, quick } = await refusing();
    const draining = server.drain(0);
    const answer = await send(get('/refused'));
    await draining;
    expect(statuses(answer)).toEqual([503]);
    expect(answer).toMatch(/connection: close/i);
    expect(quick).toEqual([]);
  });
});
