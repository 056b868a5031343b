import { currentScope, inSharedScope, watchEnd } from '../request-scope.ts';
import { createBoundedStore } from './bounded-store.ts';

/** A bounded cache in this process, with one flight per key: concurrent misses share one load. */
export type FlightCache<V> = {
  /**
   * Returns the cached value, or the value that `load` returns. A failed load rejects for all its callers and is not
   * cached. When all callers have gone, the scope in which it runs is aborted. Values are never cloned, so callers must
   * not change them.
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

type CacheOptions<V> =
  /** Entries in the cache, at least 1. */
  | { readonly maxKeys: number }
  /**
   * Bytes of a cache that companies fill: what a key and a value take, by the estimate of `bytesOf`. Each company has a quarter of
   * them, and loads for itself: nobody waits for what another company asks for.
   */
  | { readonly maxBytes: number; readonly bytesOf: (value: V) => number };

/** What the cache itself takes for an entry. */
const entryBytes = 500;

/** Returns a cache over node-cache. When it is full, the oldest entry is removed. */
export function createFlightCache<V>(options: CacheOptions<V>): FlightCache<V> {
  const isOfCompanies = 'maxBytes' in options;
  const entries = createBoundedStore<Kept<V>>({ most: isOfCompanies ? options.maxBytes : options.maxKeys });
  const weightOf = (key: string, value: V) =>
    isOfCompanies ? entryBytes + 2 * key.length + options.bytesOf(value) : 1;
  const companyNow = () => (isOfCompanies ? currentScope()?.tenant : undefined);
  // A load is cached only if it is still in this map when it ends, so removing it here is enough.
  const flights = new Map<string, Flight<V>>();

  const find = (key: string): Kept<V> | undefined => {
    const kept = entries.get(key);
    return kept !== undefined && performance.now() <= kept.until ? kept : undefined;
  };

  const keep = (key: string, company: string | undefined, { value, ttlSeconds }: Loaded<V>) => {
    // Written so that NaN is not cached either.
    if (!(ttlSeconds > 0)) return;
    const kept = { value, until: performance.now() + ttlSeconds * 1_000 };
    entries.set(key, kept, { ttlSeconds, company, weight: weightOf(key, value) });
  };

  const depart = (key: string, load: () => Promise<Loaded<V>>): Flight<V> => {
    const end = new AbortController();
    const company = companyNow();
    const name = flightName(key, company);
    // The async function turns a synchronous error of `load` into a rejection.
    const shared = { signal: end.signal, isOfTenant: isOfCompanies };
    const loading = inSharedScope(shared, async () => load());
    const value = loading
      .then((loaded) => {
        if (flights.get(name) === flight) keep(key, company, loaded);
        return loaded.value;
      })
      .finally(() => {
        if (flights.get(name) === flight) flights.delete(name);
      });
    const flight: Flight<V> = { value, end, callers: 0 };
    flights.set(name, flight);
    return flight;
  };

  /** Ends the load when all its waiting callers have gone. */
  const join = (name: string, flight: Flight<V>): Promise<V> => {
    flight.callers += 1;
    const leave = (reason: unknown) => {
      flight.callers -= 1;
      if (flight.callers > 0) return;
      if (flights.get(name) === flight) flights.delete(name);
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
      const name = flightName(key, companyNow());
      return join(name, flights.get(name) ?? depart(key, load));
    },
    peek: (key) => find(key)?.value,
    delete(key) {
      for (const name of flights.keys())
        if (name === key || (isOfCompanies && name.endsWith(`\n${key}`))) flights.delete(name);
      entries.delete(key);
    },
    clear,
    close() {
      clear();
      entries.close();
    },
  };
}

const flightName = (key: string, company: string | undefined) =>
  company === undefined ? key : `${company}\n${key}`;
