import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFlightCache, type FlightCache, type Loaded } from '../src/base/cache.ts';

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
