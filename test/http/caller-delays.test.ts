import { once } from 'node:events';
import { IncomingMessage, ServerResponse, request as send } from 'node:http';
import { Socket } from 'node:net';
import supertest from 'supertest';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answerAfter, createCallerDelays } from '../../src/http/server/caller-delays.ts';
import { listen } from '../../src/http/server/listener.ts';
import { createLogger } from '../../src/log.ts';
import { callerOf, fixtureApp, goodKey, id, verifier } from './support.ts';

const log = createLogger({ level: 'silent' });

function delaysAt() {
  const state = { at: 0 };
  const delays = createCallerDelays(50, () => state.at);
  const many = (count: number, name = 'greedy') => Array.from({ length: count }, () => delays.next(name));
  return { state, delays, many };
}

describe('the delay of what a caller is told', () => {
  test('is none for the first fifty of a key, then one of fifty a second', () => {
    const { many } = delaysAt();
    expect(many(50)).toEqual(Array(50).fill(0));
    expect(many(3)).toEqual([20, 40, 60]);
  });

  test('is a second to a second and a quarter, however many there are, and not the same for all', () => {
    const { many } = delaysAt();
    const longest = many(10_000).slice(-1_000);
    expect(Math.min(...longest)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...longest)).toBeLessThanOrEqual(1_250);
    expect(new Set(longest).size).toBeGreaterThan(100);
  });

  test('is none again for who has waited', () => {
    const { state, many } = delaysAt();
    many(10_000);
    state.at = 2_250;
    expect(many(50)).toEqual(Array(50).fill(0));
  });

  test('is that of one key: others do not wait', () => {
    const { many } = delaysAt();
    many(1_000);
    expect(many(1, 'modest')).toEqual([0]);
  });
});

describe('what waits for its turn', () => {
  const responseOf = () => new ServerResponse(new IncomingMessage(new Socket()));

  test('leaves no timer behind when its caller leaves', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const response = responseOf();
    answerAfter(500, response, () => expect.unreachable());
    response.emit('close');
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** A service whose only key may ask for nothing. */
async function refusingService() {
  const app = await fixtureApp({
    verifier: { ...verifier, known: (key) => (key === goodKey ? callerOf() : undefined) },
    limiter: { consume: async () => ({ headers: {}, retryAfterSeconds: 1 }) },
  });
  const settings = { host: 'HOST', port: 'PORT' };
  const server = await listen(app, { host: '127.0.0.1', port: 0, log, settings });
  onTestFinished(() => server.stop(0));
  const ask = () => {
    const request = send({
      ...{ port: server.port, host: '127.0.0.1', path: `/api/thing/${id}`, agent: false },
      headers: { 'x-api-key': goodKey },
    });
    request.on('error', () => {}).end();
    return request;
  };
  return { server, ask };
}

test('a key that asks on without heed gets its refusals at a pace', async () => {
  const { server, ask } = await refusingService();
  const url = `http://127.0.0.1:${server.port}`;
  const get = () => supertest(url).get(`/api/thing/${id}`).set('x-api-key', goodKey);
  const began = performance.now();
  const first = await Promise.all(Array.from({ length: 50 }, get));
  const rest = await Promise.all(Array.from({ length: 20 }, get));
  expect([...first, ...rest].map(({ status }) => status)).toEqual(Array(70).fill(429));
  // Twenty beyond the fifty, less what the first fifty took.
  expect(performance.now() - began).toBeGreaterThan(380);
  const waiting = Array.from({ length: 20 }, ask);
  const [answer] = await once(waiting[0] ?? ask(), 'response');
  expect(answer.statusCode).toBe(429);
});

test('who leaves before the refusal leaves nothing behind', async () => {
  const { ask } = await refusingService();
  const asked = Array.from({ length: 80 }, ask);
  await once(asked[0] ?? ask(), 'response');
  for (const request of asked) request.destroy();
  const [answer] = await once(ask(), 'response');
  expect(answer.statusCode).toBe(429);
});
