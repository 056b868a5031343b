import { createServer } from 'node:http';
import supertest from 'supertest';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAddressLimit } from '../../src/http/dispatch/address-limit.ts';
import type { KeyVerifier, VerifyResult } from '../../src/keys/verifier.ts';
import { callerOf, fixtureApp, goodKey, id } from './support.ts';

/** Knows one key, which it accepted lately and has in its cache no more, and counts look-ups of others. */
function createVerifier(
  lookUp: () => Promise<VerifyResult> = async () => ({ ok: false, reason: 'invalid' }),
) {
  let lookUps = 0;
  const verifier: KeyVerifier = {
    async verify(key, { cachedOnly = false } = {}) {
      if (key === goodKey && !cachedOnly) return { ok: true, caller: callerOf() };
      if (cachedOnly) return { ok: false, reason: 'rate_limited', retryAfterSeconds: 1 };
      lookUps += 1;
      return lookUp();
    },
    isFamiliar: (key) => key === goodKey,
    close: async () => {},
  };
  return { verifier, lookUps: () => lookUps };
}

const trustedProxies = ['loopback'];

async function start(perMinute: number, options: { readonly trustedProxies?: readonly string[] } = {}) {
  const { verifier, lookUps } = createVerifier();
  const app = await fixtureApp({ verifier, refusedKeys: createAddressLimit(perMinute), ...options });
  const get = (key: string, from = '203.0.113.1') =>
    supertest(app).get(`/api/thing/${id}`).set({ 'x-api-key': key, 'x-forwarded-for': from });
  const statuses = async (count: number, from?: string) => {
    const answers: number[] = [];
    for (let index = 0; index < count; index += 1)
      answers.push((await get(`invented-${index}`, from)).status);
    return answers;
  };
  return { get, statuses, lookUps };
}

describe('keys that are refused', () => {
  test('are looked up so many times a minute for an address, then 429 with Retry-After', async () => {
    const { get, statuses, lookUps } = await start(3, { trustedProxies });
    expect(await statuses(5)).toEqual([401, 401, 401, 429, 429]);
    expect(lookUps()).toBe(3);
    const refused = await get('another').expect(429);
    expect(refused.body.code).toBe('rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  test('keep no valid key of the same address out', async () => {
    const { get, statuses } = await start(1, { trustedProxies });
    await statuses(3);
    await get(goodKey).expect(200);
  });

  test('count for their own address only', async () => {
    const { statuses } = await start(1, { trustedProxies });
    expect(await statuses(2)).toEqual([401, 429]);
    expect(await statuses(1, '203.0.113.2')).toEqual([401]);
  });

  test('count for the address of the connection where no proxy is trusted', async () => {
    const { statuses } = await start(1);
    expect(await statuses(2)).toEqual([401, 429]);
    expect(await statuses(1, '203.0.113.2')).toEqual([429]);
  });

  test('of one IPv6 network count together', async () => {
    const { statuses } = await start(1, { trustedProxies });
    expect(await statuses(2, '2001:db8:0:7::1')).toEqual([401, 429]);
    expect(await statuses(1, '2001:db8::7:ffff:1:2:3')).toEqual([429]);
    expect(await statuses(1, '2001:db8:0:8::1')).toEqual([401]);
  });

  test('are never refused otherwise where the limit is off', async () => {
    const { statuses } = await start(0);
    expect(await statuses(50)).toEqual(Array(50).fill(401));
  });
});

describe('keys that are being looked up', () => {
  /** Knows nothing of a key until it is told. */
  async function startSlow(perMinute: number) {
    const { promise, resolve, reject } = Promise.withResolvers<VerifyResult>();
    promise.catch(() => {});
    const { verifier, lookUps } = createVerifier(() => promise);
    const refusedKeys = createAddressLimit(perMinute);
    const app = await fixtureApp({ verifier, trustedProxies, refusedKeys });
    const server = createServer(app).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    const get = (key: string, from = '203.0.113.1') =>
      supertest(server).get(`/api/thing/${id}`).set({ 'x-api-key': key, 'x-forwarded-for': from });
    const lookedUp = (count: number) => vi.waitFor(() => expect(lookUps()).toBe(count), { timeout: 60_000 });
    return { get, answer: resolve, fail: reject, lookedUp };
  }

  test('count as long as nothing is known of them, so hundreds at once cost no more look-ups than one after the other', async () => {
    const { get, answer, lookedUp } = await startSlow(20);
    const invented = Array.from({ length: 300 }, async (_, index) => (await get(`invented-${index}`)).status);
    await lookedUp(20);
    await get('another').expect(429).expect('retry-after', '1');
    await get(goodKey).expect(200);
    await get(goodKey, '203.0.113.2').expect(200);
    answer({ ok: false, reason: 'invalid' });
    const statuses = await Promise.all(invented);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(280);
    await get('another').expect(429);
  });

  test('count once for each key, and no longer where it is valid', async () => {
    const { get, answer, lookedUp } = await startSlow(1);
    const same = Array.from({ length: 5 }, async () => (await get('slow')).status);
    await lookedUp(5);
    await get('another').expect(429);
    answer({ ok: true, caller: callerOf() });
    expect(await Promise.all(same)).toEqual(Array(5).fill(200));
    await get('another').expect(200);
  });

  test('count on for some seconds where nothing was known in time', async () => {
    const { get, fail, lookedUp } = await startSlow(1);
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const asked = (async () => (await get('slow')).status)();
    await lookedUp(1);
    vi.advanceTimersByTime(2_000);
    fail(new Error('too late'));
    expect(await asked).toBe(503);
    await get('another').expect(429);
  });
});
