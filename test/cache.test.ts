import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFlightCache, type FlightCache, type Loaded } from '../src/base/cache/flight-cache.ts';
import { currentScope, inScope } from '../src/base/request-scope.ts';

/** A load that counts its calls and ends when told to. */
function manualLoad<V>() {
  const { promise, resolve, reject } = Promise.withResolvers<Loaded<V>>();
  return { load: vi.fn(() => promise), resolve, reject };
}

const loaded =
  <V>(value: V, ttlSeconds = 60) =>
  async (): Promise<Loaded<V>> => ({ value, ttlSeconds });

const never = () => Promise.reject(new Error('was not cached'));

describe('the flight cache', () => {
  let cache: FlightCache<unknown>;
  beforeEach(() => {
    cache = createFlightCache({ maxKeys: 3 });
  });
  afterEach(() => {
    cache.close();
    vi.useRealTimers();
  });

  test('loads a key once and hands out the very value, not a clone', async () => {
    const value = { deep: [1] };
    expect(await cache.get('a', loaded(value))).toBe(value);
    expect(await cache.get('a', never)).toBe(value);
  });

  test('keeps null and undefined like any other value', async () => {
    await cache.get('null', loaded(null));
    await cache.get('undefined', loaded(undefined));
    expect(await cache.get('null', never)).toBeNull();
    expect(await cache.get('undefined', never)).toBeUndefined();
  });

  test.each(['constructor', 'toString', '__proto__'])('finds %s only after it was set', async (key) => {
    expect(await cache.get(key, loaded(1))).toBe(1);
    expect(await cache.get(key, never)).toBe(1);
  });

  test('keeps a value for its time and no longer', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 0 });
    await cache.get('a', loaded(1, 10));
    vi.advanceTimersByTime(9_999);
    expect(await cache.get('a', never)).toBe(1);
    vi.advanceTimersByTime(2);
    expect(await cache.get('a', loaded(2, 10))).toBe(2);
  });

  test('keeps no value longer because the clock was set back', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 3_600_000 });
    await cache.get('a', loaded(1, 10));
    vi.setSystemTime(0);
    vi.advanceTimersByTime(10_001);
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.get('a', loaded(2, 10))).toBe(2);
  });

  test.each([0, -1, Number.NaN])('does not keep a value whose time is %s', async (ttlSeconds) => {
    await cache.get('a', loaded(1, ttlSeconds));
    expect(await cache.get('a', loaded(2))).toBe(2);
  });
});

describe('a full cache', () => {
  test('evicts the oldest entry and never throws', async () => {
    const cache = createFlightCache<number>({ maxKeys: 3 });
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) await cache.get(key, loaded(index));
    expect(await cache.get('b', never)).toBe(1);
    expect(await cache.get('c', never)).toBe(2);
    expect(await cache.get('d', never)).toBe(3);
    expect(await cache.get('a', loaded(9))).toBe(9);
    cache.close();
  });

  test('holds no more than its bound through thousands of keys', async () => {
    const cache = createFlightCache<number>({ maxKeys: 100 });
    for (let index = 0; index < 5_000; index += 1) await cache.get(`key ${index}`, loaded(index));
    const misses = vi.fn(loaded(0, 0));
    for (let index = 0; index < 5_000; index += 1) await cache.get(`key ${index}`, misses);
    expect(misses).toHaveBeenCalledTimes(4_900);
    cache.close();
  });

  test('makes no room for a key that it has already, nor after a removal', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 0 });
    const cache = createFlightCache<number>({ maxKeys: 2 });
    await cache.get('a', loaded(1, 100));
    await cache.get('b', loaded(2, 1));
    vi.advanceTimersByTime(1_001);
    await cache.get('b', loaded(3));
    expect(await cache.get('a', never)).toBe(1);
    cache.delete('b');
    await cache.get('c', loaded(4));
    expect(await cache.get('a', never)).toBe(1);
    cache.close();
    vi.useRealTimers();
  });
});

describe('a cache that companies fill', () => {
  const never = new AbortController().signal;
  const by = <T>(tenant: string, work: () => T): T => inScope({ tenant, signal: never, isRead: true }, work);
  /** Room for eight texts of 1,000 bytes with what the cache takes for each: two of each company. */
  const setup = () => createFlightCache<string>({ maxBytes: 8 * 1_600, bytesOf: ({ length }) => length });
  const text = (mark: string) => mark.repeat(1_000);

  test('takes no room of others for a company that fills it', async () => {
    const cache = setup();
    await by('small', () => cache.get('mine', loaded(text('m'))));
    for (let index = 0; index < 100; index += 1)
      await by('greedy', () => cache.get(`${index}`, loaded(text('g'))));
    expect(cache.peek('mine')).toBe(text('m'));
    expect([cache.peek('97'), cache.peek('98'), cache.peek('99')]).toEqual([undefined, text('g'), text('g')]);
    cache.close();
  });

  test('takes room of those who have most where all is taken, and nothing larger than a share', async () => {
    const cache = setup();
    for (const company of ['a', 'b', 'c', 'd'])
      for (const key of ['1', '2']) await by(company, () => cache.get(company + key, loaded(text('x'))));
    await by('late', () => cache.get('late', loaded(text('l'))));
    expect(cache.peek('late')).toBe(text('l'));
    expect(['a1', 'b1', 'c1', 'd1'].filter((key) => cache.peek(key) === undefined)).toHaveLength(1);
    await by('huge', () => cache.get('huge', loaded(text('h').repeat(4))));
    expect(cache.peek('huge')).toBeUndefined();
    expect(cache.peek('late')).toBe(text('l'));
    cache.close();
  });

  test('loads for each company by itself, in its share, and serves what any has loaded', async () => {
    const cache = setup();
    const slow = manualLoad<string>();
    const tenants: unknown[] = [];
    const waiting = by('greedy', () => cache.get('key', slow.load));
    const load = vi.fn(async () => {
      tenants.push(currentScope()?.tenant);
      return { value: 'quick', ttlSeconds: 60 };
    });
    expect(await by('small', () => cache.get('key', load))).toBe('quick');
    expect(tenants).toEqual(['small']);
    expect(await by('third', () => cache.get('key', load))).toBe('quick');
    expect(load).toHaveBeenCalledTimes(1);
    cache.delete('key');
    slow.resolve({ value: 'late', ttlSeconds: 60 });
    expect(await waiting).toBe('late');
    expect(cache.peek('key')).toBeUndefined();
    cache.close();
  });
});

describe('a flight', () => {
  const cache = createFlightCache<string>({ maxKeys: 10 });

  test('is shared by all who miss the same key meanwhile', async () => {
    const { load, resolve } = manualLoad<string>();
    const waiting = Array.from({ length: 50 }, () => cache.get('shared', load));
    resolve({ value: 'once', ttlSeconds: 60 });
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['once']));
    expect(load).toHaveBeenCalledTimes(1);
  });

  test('that fails is told to all who wait and is not kept', async () => {
    const { load, reject } = manualLoad<string>();
    const waiting = [cache.get('failing', load), cache.get('failing', load)];
    reject(new Error('node is down'));
    for (const outcome of await Promise.allSettled(waiting)) expect(outcome.status).toBe('rejected');
    expect(await cache.get('failing', loaded('better'))).toBe('better');
  });

  test('whose load throws at once is a rejection', async () => {
    const thrower = () => {
      throw new Error('at once');
    };
    await expect(cache.get('throwing', thrower)).rejects.toThrow('at once');
    expect(await cache.get('throwing', loaded('better'))).toBe('better');
  });

  test.each([
    ['delete', () => cache.delete('removed')],
    ['clear', () => cache.clear()],
  ])('answers its callers but is not kept after %s', async (_name, remove) => {
    const old = manualLoad<string>();
    const first = cache.get('removed', old.load);
    remove();
    const young = manualLoad<string>();
    const second = cache.get('removed', young.load);
    young.resolve({ value: 'new', ttlSeconds: 60 });
    expect(await second).toBe('new');
    old.resolve({ value: 'old', ttlSeconds: 60 });
    expect(await first).toBe('old');
    expect(await cache.get('removed', never)).toBe('new');
    cache.delete('removed');
  });

  test('is not disturbed by the removal of another key', async () => {
    const { load, resolve } = manualLoad<string>();
    const waiting = cache.get('mine', load);
    cache.delete('other');
    resolve({ value: 'kept', ttlSeconds: 60 });
    await waiting;
    expect(await cache.get('mine', never)).toBe('kept');
  });
});
