import { EventEmitter, once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { Express, Request, Response } from 'express';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createMountedApp } from '../../src/compose/app.ts';
import { claimPages, openToPages } from '../../src/http/dispatch/open-to-pages.ts';
import { createHealthRouter } from '../../src/http/mounts/health.ts';
import {
  afterDelay,
  createPace,
  createStrangerPace,
  paced,
  type StrangerPace,
} from '../../src/http/server/stranger-pace.ts';
import { callerOf, fixtureApp, goodKey, id, verifier } from './support.ts';

type Question = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
};

/** Callers of an app, each with a connection of its own. */
async function callersOf(app: Express) {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const begin = (question: Question) => {
    const request = send({ host: '127.0.0.1', port, agent: false, ...question });
    return request.on('error', () => {}).end();
  };
  const ask = async (question: Question): Promise<number> => {
    const [answer] = await once(begin(question), 'response');
    answer.resume();
    return answer.statusCode;
  };
  return { begin, ask };
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** A pace that lets everything pass, and what it was told that each response costs. */
function notedPace() {
  const costs: number[] = [];
  const pace: StrangerPace = { pass: (_request, _response, cost = 1) => void costs.push(cost) };
  return { pace, costs };
}

/** A page, the health, and an operation that pages of any origin may call. */
function pagesApp(pace: StrangerPace) {
  let answers = 0;
  const handler = paced(pace);
  const app = createMountedApp({
    log: createLogger({ level: 'silent' }),
    mounts: [
      {
        path: '/open',
        handler: openToPages((_request, response) => response.sendStatus(200), handler, claimPages),
      },
      { path: '/', handler },
      { path: '/', handler: createHealthRouter({ checks: [], isServing: () => true, onFailure: () => {} }) },
      {
        path: '/page',
        handler(_request, response) {
          answers += 1;
          response.sendStatus(200);
        },
      },
    ],
  });
  return { app, answers: () => answers };
}

describe('the delay of a response', () => {
  function paceAt() {
    const state = { at: 0 };
    const next = createPace(50, () => state.at);
    const many = (count: number, name = 'greedy', cost = 1) => times(count, () => next(name, cost));
    return { state, many };
  }

  test('is none for those of a second, and then so long that there are as many in a second', () => {
    const { many } = paceAt();
    expect(many(50)).toEqual(Array(50).fill(0));
    expect(many(3)).toEqual([20, 40, 60]);
  });

  test('is two seconds to two and a half at most, and not the same for all', () => {
    const { many } = paceAt();
    const longest = many(10_000).slice(-1_000);
    expect(Math.min(...longest)).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...longest)).toBeLessThanOrEqual(2_500);
    expect(new Set(longest).size).toBeGreaterThan(100);
  });

  test('is none again after a wait, and none for other names', () => {
    const { state, many } = paceAt();
    many(10_000);
    expect(many(1, 'modest')).toEqual([0]);
    state.at = 3_500;
    expect(many(50)).toEqual(Array(50).fill(0));
  });

  test('is longer for what costs more', () => {
    const { many } = paceAt();
    expect(many(6, 'greedy', 10)).toEqual([0, 0, 0, 0, 0, 200]);
  });
});

const path = `/api/thing/${id}`;
const preflight = { origin: 'https://a.example', 'access-control-request-method': 'POST' };

test.each([
  { what: 'a question without a key', status: 401, question: { path } },
  { what: 'an invented key', status: 401, question: { path, headers: { 'x-api-key': 'invented' } } },
  { what: 'a path that is none', status: 404, question: { path: '/api/nothing' } },
  { what: 'a method that is none', status: 405, question: { path, method: 'PROPFIND' } },
  { what: 'an operation that needs no key', status: 200, question: { path: '/api/public' }, cost: 5 },
])('$what is answered at the pace of strangers', async ({ status, question, cost = 1 }) => {
  const { pace, costs } = notedPace();
  const { ask } = await callersOf(await fixtureApp({ strangers: pace }));
  expect(await ask(question)).toBe(status);
  expect(costs).toEqual([cost]);
});

test.each([
  { what: 'a page', status: 200, question: { path: '/page' } },
  { what: 'an address that is none', status: 404, question: { path: '/nothing' } },
  { what: 'the health', status: 200, question: { path: '/healthz' } },
  {
    what: 'what a page may ask',
    status: 204,
    question: { path: '/open', method: 'OPTIONS', headers: preflight },
  },
])('$what is told at the pace of strangers', async ({ status, question }) => {
  const { pace, costs } = notedPace();
  const { ask } = await callersOf(pagesApp(pace).app);
  expect(await ask(question)).toBe(status);
  expect(costs).toEqual([1]);
});

test('a network that asks for more than that gets 429 after two seconds', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { pass } = createStrangerPace();
  const ask = (ip: string) => pass({ ip } as Request, new EventEmitter() as Response);
  const asked = times(610, () =>
    Promise.resolve(ask('203.0.113.1')).then(
      () => 'passed',
      ({ code }) => code,
    ),
  );
  expect(ask('203.0.113.2')).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1_999);
  const early = await Promise.race([asked[605], Promise.resolve('waits')]);
  expect(early).toBe('waits');
  await vi.advanceTimersByTimeAsync(510);
  const outcomes = await Promise.all(asked);
  expect(outcomes.slice(0, 599)).toEqual(Array(599).fill('passed'));
  expect(outcomes.slice(600)).toEqual(Array(10).fill('rate_limited'));
});

describe('a key that is known', () => {
  const known = {
    ...verifier,
    known: (key: string) => (key === goodKey ? callerOf() : undefined),
  };
  const headers = { 'x-api-key': goodKey };

  test('waits for nobody', async () => {
    const { pace, costs } = notedPace();
    const { ask } = await callersOf(await fixtureApp({ verifier: known, strangers: pace }));
    expect(await ask({ path, headers })).toBe(200);
    expect(costs).toEqual([]);
  });

  test('gets refusals for its rate at a pace', async () => {
    const app = await fixtureApp({
      verifier: known,
      limiter: { consume: async () => ({ headers: {}, retryAfterSeconds: 1 }) },
    });
    const { ask } = await callersOf(app);
    const began = performance.now();
    const statuses = await Promise.all(times(70, () => ask({ path, headers })));
    expect(statuses).toEqual(Array(70).fill(429));
    // Twenty beyond the fifty.
    expect(performance.now() - began).toBeGreaterThan(380);
  });
});

test('nothing is done for a caller who leaves before its turn, and no timer is left', async () => {
  const app = pagesApp({ pass: (_request, response) => afterDelay(50, response) });
  const { begin, ask } = await callersOf(app.app);
  const gone = begin({ path: '/page' });
  await once(gone, 'finish');
  gone.destroy();
  // Asked later, so that its turn comes later.
  expect(await ask({ path: '/page' })).toBe(200);
  expect(app.answers()).toBe(1);
});
