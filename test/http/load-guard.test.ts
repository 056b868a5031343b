import type { EventLoopUtilization } from 'node:perf_hooks';
import request from 'supertest';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type HttpServer, listen } from '../../src/http/server/listener.ts';
import { createLoadGuard } from '../../src/http/server/load-guard.ts';
import type { EndRequest } from '../../src/http/server/under-way.ts';
import { createCachedVerifier } from '../../src/keys/cached-verifier.ts';
import { tenantOfKey } from '../../src/keys/tenant-of-key.ts';
import { createLogger } from '../../src/log.ts';
import { callerOf } from './support.ts';

const log = createLogger({ level: 'silent' });
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

// As long as a process is at what came at once before it refuses.
const busyMs = 50;

/** Of keys such as `greedy` and `greedy 2`. */
const companyOf = (key: string) => ['greedy', 'neighbour'].find((company) => key.startsWith(company));

/** A guard in a process whose time and whose event loop are told. */
function guarded(tenantOf: (key: string) => string | undefined = companyOf) {
  const state = { at: 0, utilization: 0 };
  const guard = createLoadGuard({
    ...{ busyMs, tenantOf },
    now: () => state.at,
    utilization: (): EventLoopUtilization => ({ idle: 0, active: 0, utilization: state.utilization }),
  });
  const open: EndRequest[] = [];
  const ask = (key = 'greedy', url = '/events/v1/api/event') => {
    const end = guard.admit({ url, headers: { 'x-api-key': key } });
    if (end) open.push(end);
    return end !== undefined;
  };
  const askMany = (count: number, key?: string, url?: string) =>
    Array.from({ length: count }, () => ask(key, url)).filter(Boolean).length;
  return {
    ...{ guard, state, ask, askMany },
    /** Ends the requests that came first. */
    end: (count: number, isRefused = false) => {
      for (const end of open.splice(0, count)) end(isRefused);
    },
    /** Lets a span pass in which the event loop was so busy, and looks at it. */
    pass(utilization: number, ms = busyMs) {
      Object.assign(state, { at: state.at + ms, utilization });
      if (ask('nobody')) open.splice(-1)[0]?.(true);
    },
  };
}

/** A guard whose process has answered 1,000 requests in that time and has no pause. */
function saturated(tenantOf?: Parameters<typeof guarded>[0]) {
  const process = guarded(tenantOf);
  process.askMany(1_000);
  process.end(1_000);
  process.pass(1);
  return process;
}

describe('a process with pauses', () => {
  test('takes on whatever comes', () => {
    const { askMany, pass } = guarded();
    expect(askMany(5_000)).toBe(5_000);
    pass(0.9);
    expect(askMany(5_000)).toBe(5_000);
  });

  test('refuses what is left of requests that came at once and take too long, until it has turned to others', async () => {
    const { state, ask } = guarded();
    const together = () =>
      Array.from({ length: 1_000 }, () => {
        const isAdmitted = ask();
        if (isAdmitted) state.at += 1;
        return isAdmitted;
      }).filter(Boolean).length;
    expect(together()).toBe(busyMs + 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(together()).toBe(busyMs + 1);
  });
});

describe('a process without pause', () => {
  test('takes on as many as it answers in the time, and one more for each that ends', () => {
    const { askMany, end } = saturated();
    // One was refused at once and has still its place.
    expect(askMany(5_000)).toBe(999);
    end(10);
    expect(askMany(5_000)).toBe(10);
  });

  test('takes on few always, however slow it is', () => {
    const { askMany, pass } = guarded();
    pass(1);
    pass(1);
    expect(askMany(1_000)).toBeGreaterThanOrEqual(31);
    expect(askMany(1_000)).toBe(0);
  });

  test('counts none that waits for somebody else', () => {
    const { askMany, pass } = saturated();
    askMany(5_000);
    expect(askMany(1)).toBe(0);
    for (let span = 0; span < 21; span += 1) pass(1);
    expect(askMany(1_000)).toBeGreaterThanOrEqual(500);
  });

  test('counts a late refusal as the work that it was', () => {
    const { askMany, end, pass } = saturated();
    askMany(5_000, 'nobody');
    end(400, true);
    expect(askMany(1_000, 'nobody')).toBe(0);
    pass(1);
    expect(askMany(1_000, 'nobody')).toBeGreaterThanOrEqual(350);
  });

  test('remembers what it can when something large has stopped it', () => {
    const { askMany, pass } = saturated();
    pass(1, 1_000);
    expect(askMany(5_000)).toBeGreaterThanOrEqual(690);
  });

  test('refuses a company at once whose requests are refused late, until they no longer are', () => {
    const { ask, askMany, end, pass } = guarded();
    askMany(100);
    end(100);
    pass(0.5);
    // 100 answers in that time, and pauses: the database is slower than the process.
    expect(askMany(300)).toBe(300);
    end(1, true);
    expect(askMany(10)).toBe(0);
    expect(askMany(10, 'neighbour')).toBe(10);
    end(250);
    expect(askMany(100)).toBe(50);
    pass(0.5, 1_001);
    expect(ask()).toBe(true);
  });

  test('gives a known key its share beside one that takes all', () => {
    const { askMany } = saturated();
    askMany(5_000);
    expect(askMany(1_000, 'neighbour')).toBe(500);
  });

  test.for(['greedy', 'nobody'])('leaves a company its little, whatever %s had begun before', (other) => {
    const { askMany, pass } = guarded();
    askMany(5_000, other);
    pass(1);
    pass(1);
    expect(askMany(4, 'neighbour')).toBe(4);
    expect(askMany(100, other)).toBe(0);
  });

  test('takes all keys of a company for one', () => {
    const { ask, askMany } = saturated();
    askMany(5_000);
    expect(Array.from({ length: 500 }, (_, index) => ask(`greedy ${index}`)).filter(Boolean)).toEqual([]);
    expect(askMany(1_000, 'neighbour')).toBe(500);
  });

  test('serves a company beside one that takes all that asks it for the first time', () => {
    const { ask, askMany } = saturated();
    askMany(5_000);
    expect(ask('new')).toBe(true);
  });

  test('gives all keys together that nobody has accepted the little of a company, so invented ones cost the others nothing', () => {
    const { ask, askMany, pass } = saturated();
    pass(1);
    askMany(5_000);
    const admitted = Array.from({ length: 100 }, (_, index) => ask(`invented ${index}`));
    // One was refused at once and has still its place.
    expect(admitted.filter(Boolean)).toHaveLength(3);
    expect(askMany(1_000, 'neighbour')).toBeGreaterThanOrEqual(490);
  });

  test('gives a company its share that asks once in some minutes, and not much later', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const verifier = createCachedVerifier({
      isWellFormed: () => true,
      lookUp: async () => ({ result: { ok: true, caller: callerOf('quiet') }, validSeconds: 1_000 }),
      ...{ cacheSeconds: 10, cacheMax: 10, lookUpsAtOnce: 1, timeoutMs: 1_000 },
    });
    onTestFinished(() => verifier.close());
    await verifier.verify('quiet');
    vi.advanceTimersByTime(599_000);
    const { askMany } = saturated((key) => companyOf(key) ?? tenantOfKey(verifier, key));
    askMany(5_000);
    expect(askMany(1_000, 'quiet')).toBe(500);
    expect(askMany(1_000, 'invented')).toBeLessThanOrEqual(4);
    vi.advanceTimersByTime(1_001);
    expect(askMany(1, 'quiet')).toBe(0);
  });

  test('answers whoever asks for its health', () => {
    const { askMany } = saturated();
    askMany(5_000);
    expect(askMany(100, 'greedy', '/healthz')).toBe(100);
  });

  test('takes on all again when it has pauses', async () => {
    const { askMany, pass } = saturated();
    askMany(5_000);
    await new Promise((resolve) => setImmediate(resolve));
    pass(0.5);
    expect(askMany(5_000)).toBe(5_000);
  });
});

test('refusals that wait are sent at once when the process is about to end', () => {
  const guard = createLoadGuard({ busyMs, tenantOf: () => undefined, now: () => 0 });
  let sent = 0;
  for (let index = 0; index < 1_000; index += 1) {
    guard.pace(() => {
      sent += 1;
    });
  }
  expect(sent).toBeLessThan(1_000);
  guard.hasten();
  expect(sent).toBe(1_000);
});

describe('who is refused and asks on before the time in Retry-After is over', () => {
  const many = 5_000;
  const sentAtOnce = ({ guard, state }: ReturnType<typeof guarded>, asksOn: boolean) => {
    state.at += busyMs;
    let sent = 0;
    for (let index = 0; index < many; index += 1) guard.pace(() => (sent += 1), asksOn);
    onTestFinished(() => guard.hasten());
    return sent;
  };

  test('waits for the next refusal while the process has no pause: it is answers that refusing would take', () => {
    expect(sentAtOnce(saturated(), true)).toBeLessThan(many);
    expect(sentAtOnce(saturated(), false)).toBe(many);
  });

  test('is refused at once while the process has pauses', () => {
    const process = saturated();
    process.pass(0.5);
    expect(sentAtOnce(process, true)).toBe(many);
  });

  test('keeps nobody waiting who is refused for the first time', () => {
    const process = saturated();
    expect(sentAtOnce(process, true)).toBeLessThan(many);
    expect(sentAtOnce(process, false)).toBe(many);
  });
});

/** A server that refuses all but the health. */
async function refusing() {
  const guard = createLoadGuard({ busyMs, tenantOf: () => undefined });
  const counts = { shed: 0 };
  const server: HttpServer = await listen((_request, response) => response.end('ok'), {
    ...{ host: '127.0.0.1', port: 0, settings: { host: 'HOST', port: 'PORT' }, log },
    guard: { ...guard, admit: (asked) => (asked.url === '/healthz' ? guard.admit(asked) : undefined) },
    onShed: () => {
      counts.shed += 1;
    },
  });
  ends.push(() => server.stop(0));
  return { caller: request(`http://127.0.0.1:${server.port}`), counts };
}

test('a request that is refused for the load gets a problem that says when to come back', async () => {
  const { caller, counts } = await refusing();
  const refused = await caller.post('/events/v1/api/event').send({ name: 'Fair' }).expect(503);
  expect(refused.headers).toMatchObject({
    'content-type': 'application/problem+json',
    'retry-after': '1',
    'x-request-id': refused.body.requestId,
  });
  expect(refused.body).toMatchObject({ code: 'overloaded', status: 503 });
  await caller.get('/healthz').expect(200);
  expect(counts.shed).toBe(1);
});

test('refusals beyond their pace are late, and none is left out', async () => {
  const { caller, counts } = await refusing();
  const answers = await Promise.all(Array.from({ length: 400 }, () => caller.get('/events/v1/api/event')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
  expect(new Set(answers.map(({ body }) => body.requestId)).size).toBe(400);
  expect(counts.shed).toBe(400);
});
