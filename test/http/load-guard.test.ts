import request from 'supertest';
import { afterEach, describe, expect, test } from 'vitest';
import { type HttpServer, listen } from '../../src/http/server/listener.ts';
import { createLoadGuard } from '../../src/http/server/load-guard.ts';
import { createLogger } from '../../src/log.ts';

const log = createLogger({ level: 'silent' });
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Asks a guard about so many requests that come at once, each of which keeps the process busy for `ms`. */
function together(
  count: number,
  ms: number,
  url = '/events/v1/api/event',
  keyOf = (_index: number) => 'greedy',
) {
  let time = 0;
  const guard = createLoadGuard(100, () => time);
  const admit = (_: unknown, index: number) => {
    const headers = { 'x-api-key': keyOf(index) };
    const isAdmitted = guard.admits({ url, headers } as unknown as Parameters<typeof guard.admits>[0]);
    if (isAdmitted) time += ms;
    return isAdmitted;
  };
  return { admitted: () => Array.from({ length: count }, admit).filter(Boolean).length };
}

describe('requests that come at once', () => {
  test('are taken on as long as they do not keep the process busy for too long', async () => {
    expect(together(1_000, 0.05).admitted()).toBe(1_000);
    const many = together(1_000, 1);
    expect(many.admitted()).toBe(101);
    await new Promise((resolve) => setImmediate(resolve));
    expect(many.admitted()).toBe(101);
  });

  test('are taken on when they are few, whatever each takes', () => {
    expect(together(32, 1_000).admitted()).toBe(32);
  });

  test('are taken on when they are the first of their key, as long as few keys come', () => {
    const neighbour = (index: number) => (index < 995 ? 'greedy' : 'neighbour');
    expect(together(1_000, 1, undefined, neighbour).admitted()).toBe(101 + 4);
    // 32 at once, then those of the first 16 keys until the time is over.
    expect(together(1_000, 10, undefined, (index) => `invented ${index}`).admitted()).toBe(32);
  });

  test('are always taken on when they ask for the health', () => {
    expect(together(1_000, 1, '/healthz').admitted()).toBe(1_000);
  });
});

test('a request that is refused for the load gets a problem that says when to come back', async () => {
  let shed = 0;
  const server: HttpServer = await listen((_request, response) => response.end('ok'), {
    ...{ host: '127.0.0.1', port: 0, settings: { host: 'HOST', port: 'PORT' }, log },
    guard: { admits: ({ url }) => url === '/healthz' },
    onShed: () => {
      shed += 1;
    },
  });
  ends.push(() => server.stop(0));
  const caller = request(`http://127.0.0.1:${server.port}`);
  const refused = await caller.post('/events/v1/api/event').send({ name: 'Fair' }).expect(503);
  expect(refused.headers).toMatchObject({
    'content-type': 'application/problem+json',
    'retry-after': '1',
    'x-request-id': refused.body.requestId,
  });
  expect(refused.body).toMatchObject({ code: 'overloaded', status: 503 });
  await caller.get('/healthz').expect(200);
  expect(shed).toBe(1);
});
