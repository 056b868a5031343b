import NodeCache from 'node-cache';
import { currentScope, inSharedScope, watchEnd } from './request-scope.ts';

/** A bounded cache in this process, with one flight per key: concurrent misses share one load. */
export type FlightCache<V> = {
  /**
   * Returns the cached value, or the one that `load` returns. A failed load rejects for all its callers and is not
   * cached. When all of them have gone, the scope in which it runs is aborted. Values are never cloned, so callers must not change them.
   */
  get(key: string, load: () => Promise<Loaded<V>>): Promise<V>;
  /** Returns the cached value without loading it; undefined when there is none. */
  peek(key: string): V | undefined;
  /** Removes the key. A load in flight still serves its callers, but its value is not cached. */
  delete(key: string): void;
  /** Removes everything, loads in flight included. */
  clear(): void;
  /** Removes everything and stops the timer that deletes expired entries. */
  close(): void;
};

/** A value and for how many seconds from now it may be cached; 0 or less for not at all. */
export type Loaded<V> = { readonly value: V; readonly ttlSeconds: number };

// Next to the calendar, which node-cache keeps and which may be set back.
type Kept<V> = { readonly value: V; readonly until: number };
type Flight<V> = { readonly value: Promise<V>; readonly end: AbortController; callers: number };

const sweepSeconds = 60;

/**
 * Returns a cache over node-cache.
 * @param maxKeys at least 1. When the cache is full, the oldest entry is removed
 */
export function createFlightCache<V>({ maxKeys }: { maxKeys: number }): FlightCache<V> {
  const entries = createBoundedStore<Kept<V>>(maxKeys);
  // A load is cached only if it is still in this map when it ends, so removing it here is enough.
  const flights = new Map<string, Flight<V>>();

  const find = (key: string): Kept<V> | undefined => {
    const kept = entries.get(key);
    return kept !== undefined && performance.now() <= kept.until ? kept : undefined;
  };

  const keep = (key: string, { value, ttlSeconds }: Loaded<V>) => {
    // Written so that NaN is not cached either.
    if (!(ttlSeconds > 0)) return;
    entries.set(key, { value, until: performance.now() + ttlSeconds * 1_000 }, ttlSeconds);
  };

  const depart = (key: string, load: () => Promise<Loaded<V>>): Flight<V> => {
    const end = new AbortController();
    // The async function turns a synchronous error of `load` into a rejection.
    const loading = inSharedScope({ signal: end.signal, isOfTenant: false }, async () => load());
    const value = loading
      .then((loaded) => {
        if (flights.get(key) === flight) keep(key, loaded);
        return loaded.value;
      })
      .finally(() => {
        if (flights.get(key) === flight) flights.delete(key);
      });
    const flight: Flight<V> = { value, end, callers: 0 };
    flights.set(key, flight);
    return flight;
  };

  /** Ends the load when all who wait for it have gone. */
  const join = (key: string, flight: Flight<V>): Promise<V> => {
    flight.callers += 1;
    const leave = (reason: unknown) => {
      flight.callers -= 1;
      if (flight.callers > 0) return;
      if (flights.get(key) === flight) flights.delete(key);
      flight.end.abort(reason);
    };
    const scope = currentScope();
    scope?.onAway?.();
    if (scope !== undefined) watchEnd(scope, leave);
    return flight.value;
  };

  const clear = () => {
    flights.clear();
    entries.clear();
  };

  return {
    get(key, load) {
      const kept = find(key);
      if (kept !== undefined) return Promise.resolve(kept.value);
      return join(key, flights.get(key) ?? depart(key, load));
    },
    peek: (key) => find(key)?.value,
    delete(key) {
      flights.delete(key);
      entries.delete(key);
    },
    clear,
    close() {
      clear();
      entries.close();
    },
  };
}

/** Returns a node-cache that removes its oldest entry when it is full, where the library would throw. */
function createBoundedStore<T>(maxKeys: number) {
  const store = new NodeCache({ useClones: false, checkperiod: sweepSeconds });
  // A Set iterates in the order of insertion, so its first key is the oldest.
  const order = new Set<string>();
  store.on('del', (key: string) => order.delete(key));
  // node-cache keeps its entries in a plain object, whose own words such as `__proto__` are no keys.
  const named = (key: string) => `=${key}`;
  return {
    get: (key: string) => store.get<T>(named(key)),
    set(key: string, value: T, ttlSeconds: number) {
      store.del(named(key));
      const [oldest] = order;
      if (order.size >= maxKeys && oldest !== undefined) store.del(oldest);
      order.add(named(key));
      store.set(named(key), value, ttlSeconds);
    },
    delete: (key: string) => store.del(named(key)),
    clear() {
      store.flushAll();
      order.clear();
    },
    close: () => store.close(),
  };
}
