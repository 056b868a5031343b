import supertest from 'supertest';
import { describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { inScope } from '../../src/base/request-scope.ts';
import type { Caller } from '../../src/contract/operation.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { purgeRateLimits } from '../../src/db/records/housekeeping.ts';
import { createLimiter, type RateLimit } from '../../src/http/dispatch/limits.ts';
import { createTestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { callerOf, fixtureApp, goodKey, id } from './support.ts';

const log = createLogger({ level: 'silent' });
// A window so long that no test outlives it: 3 requests, one in 1000 s on average.
const slow: RateLimit = { perSecond: 0.001, burst: 3 };

const limiterOf = (db: Database, defaults: RateLimit) => createLimiter({ db, defaults, log });
const keyed = (keyId: string, rateLimit: Caller['rateLimit'] = null): Caller => ({
  ...callerOf('acme', keyId),
  rateLimit,
});

async function consume(db: Database, times: number, caller: Caller, limiter = limiterOf(db, slow)) {
  const answers = [];
  for (let index = 0; index < times; index += 1) answers.push(await limiter.consume(caller));
  return answers.map((answer) => answer !== undefined && answer.retryAfterSeconds === undefined);
}

describe('the limit of a key', () => {
  test('lets the burst through and refuses the next', async ({ db }) => {
    expect(await consume(db, 5, keyed('burst'))).toEqual([true, true, true, false, false]);
  });

  test('holds over several processes', async ({ db }) => {
    const [here, there] = [limiterOf(db, slow), limiterOf(db, slow)];
    expect(await consume(db, 2, keyed('shared'), here)).toEqual([true, true]);
    expect(await consume(db, 2, keyed('shared'), there)).toEqual([true, false]);
    expect(await consume(db, 1, keyed('shared'), here)).toEqual([false]);
  });

  test('lets exactly the burst through of many at once', async ({ db }) => {
    const [here, there] = [limiterOf(db, { ...slow, burst: 20 }), limiterOf(db, { ...slow, burst: 20 })];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => (index % 2 ? here : there).consume(keyed('crowd'))),
    );
    expect(
      answers.filter((answer) => answer !== undefined && answer.retryAfterSeconds === undefined),
    ).toHaveLength(20);
  });

  test('is its own: another key is not touched', async ({ db }) => {
    const limiter = limiterOf(db, slow);
    await consume(db, 4, keyed('greedy'), limiter);
    expect(await consume(db, 1, keyed('modest'), limiter)).toEqual([true]);
  });

  test('may be set by the key itself', async ({ db }) => {
    expect(await consume(db, 2, keyed('own', { perSecond: 0.001, burst: 1 }))).toEqual([true, false]);
    const unlimited = limiterOf(db, { perSecond: 0, burst: 0 });
    expect(await consume(db, 2, keyed('own-2', { perSecond: 0.001, burst: 1 }), unlimited)).toEqual([
      true,
      false,
    ]);
  });

  test('may have a name of any length', async ({ db }) => {
    expect(await consume(db, 4, keyed('x'.repeat(1_000)))).toEqual([true, true, true, false]);
    expect(await consume(db, 1, keyed('x'.repeat(1_001)))).toEqual([true]);
  });

  test('is new in the next window', async ({ db }) => {
    const caller = keyed('again');
    await consume(db, 4, caller);
    await db('rate_limits').where({ key: 'key:again' }).update({ expire: 1 });
    expect(await consume(db, 1, caller)).toEqual([true]);
  });

  test('ends with its window, also when the clock was set back by an hour meanwhile', async ({ db }) => {
    const quick = { perSecond: 3, burst: 3 };
    const limiter = limiterOf(db, quick);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    expect(await consume(db, 4, keyed('travelled'), limiter)).toEqual([true, true, true, false]);
    vi.useRealTimers();
    expect(await consume(db, 1, keyed('travelled'), limiter)).toEqual([true]);
    expect(await consume(db, 1, keyed('travelled'), limiterOf(db, quick))).toEqual([true]);
  });

  test('costs no query once it is used up', async ({ db }) => {
    const limiter = limiterOf(db, slow);
    await consume(db, 3, keyed('blocked'), limiter);
    const queries = vi.spyOn(db.client, 'acquireConnection');
    expect(await consume(db, 3, keyed('blocked'), limiter)).toEqual([false, false, false]);
    expect(queries).not.toHaveBeenCalled();
    queries.mockRestore();
  });

  test('keeps no other company waiting', async ({ db }) => {
    const limiter = createLimiter({ db, defaults: { perSecond: 100, burst: 200 }, log, waitMs: 50 });
    const count = (company: string) => {
      const signal = new AbortController().signal;
      const caller = callerOf(company, company);
      return inScope({ isRead: true, signal }, async () => limiter.consume(caller));
    };
    for (const company of ['first', 'second']) await count(company);
    const holder = await db.transaction();
    await holder('rate_limits').where('key', 'key:first').forUpdate();
    const first = Array.from({ length: 30 }, () => count('first'));
    expect(await count('second')).toBeDefined();
    await expect(Promise.all(first)).rejects.toMatchObject({ code: 'overloaded' });
    await holder.rollback();
    await Promise.allSettled(first);
  });

  test('is counted by the process alone while the database is away', async ({ db }) => {
    const lost = await createTestDatabase();
    await lost.close();
    const limiter = createLimiter({ db: lost.db, defaults: slow, log });
    expect(await consume(db, 4, keyed('lost'), limiter)).toEqual([true, true, true, false]);
  });
});

describe('the headers', () => {
  test('tell the limit and what is left, as in the IETF draft', async ({ db }) => {
    const limiter = limiterOf(db, { perSecond: 100, burst: 200 });
    const told = await limiter.consume(keyed('told'));
    expect(told?.headers).toEqual({
      'RateLimit-Policy': '"default";q=200;w=2',
      RateLimit: '"default";r=199;t=2',
    });
  });

  test('are absent where no limit applies', async ({ db }) => {
    expect(limiterOf(db, { perSecond: 0, burst: 200 }).consume(keyed('free'))).toBeUndefined();
    const app = await fixtureApp({ limiter: limiterOf(db, { perSecond: 0, burst: 200 }) });
    const { status, headers } = await supertest(app).get(`/api/thing/${id}`).set('x-api-key', goodKey);
    expect([status, headers['ratelimit'], headers['ratelimit-policy']]).toEqual([200, undefined, undefined]);
  });

  test('come with every answer, and 429 says when to come back', async ({ db }) => {
    const app = await fixtureApp({ limiter: limiterOf(db, { perSecond: 0.1, burst: 1 }) });
    const get = () => supertest(app).get(`/api/thing/${id}`).set('x-api-key', goodKey);
    expect((await get()).headers['ratelimit']).toBe('"default";r=0;t=10');
    const refused = await get();
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(refused.headers['ratelimit-policy']).toBe('"default";q=1;w=10');
    expect(refused.headers['retry-after']).toMatch(/^([1-9]|10)$/);
  });
});

describe('purging', () => {
  test('deletes windows that have ended, a bounded number at a time', async ({ db }) => {
    await db('rate_limits').delete();
    for (const name of ['a', 'b', 'c']) await consume(db, 1, keyed(name));
    await db('rate_limits').whereIn('key', ['key:a', 'key:b']).update({ expire: 1 });
    expect(await purgeRateLimits(db, 1)).toBe(1);
    expect(await purgeRateLimits(db, 10)).toBe(1);
    expect(await db('rate_limits').select('key')).toEqual([{ key: 'key:c' }]);
  });
});
