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

/** `joined`: the caller shares a load that is in flight. */
export type OnGet = (from: 'hit' | 'joined' | 'miss') => void;

// By whichever clock says so first: the calendar may be set back, and `performance.now()` stands still while the machine sleeps.
type Kept<V> = { readonly value: V; readonly until: number; readonly untilDate: number };
type Flight<V> = { readonly value: Promise<V>; readonly end: AbortController; callers: number };

const isOver = ({ until, untilDate }: Kept<unknown>) => performance.now() > until || Date.now() > untilDate;

const sweepMs = 60_000;

/**
 * @param maxKeys at least 1. When the cache is full, the oldest entry is removed
 * @param onGet called with the source of each value
 */
export function createFlightCache<V>({ maxKeys, onGet }: { maxKeys: number; onGet?: OnGet }): FlightCache<V> {
  // A Map iterates in the order of insertion, so its first entry is the oldest.
  const entries = new Map<string, Kept<V>>();
  const sweep = () => {
    for (const [key, kept] of entries) if (isOver(kept)) entries.delete(key);
  };
  const sweeping = setInterval(sweep, sweepMs).unref();
  // A load is cached only if it is still in this map when it ends, so removing it here is enough.
  const flights = new Map<string, Flight<V>>();

  const find = (key: string): Kept<V> | undefined => {
    const kept = entries.get(key);
    return kept !== undefined && !isOver(kept) ? kept : undefined;
  };

  const keep = (key: string, { value, ttlSeconds }: Loaded<V>) => {
    // Written so that NaN is not cached either.
    if (!(ttlSeconds > 0)) return;
    entries.delete(key);
    const [oldest] = entries.keys();
    if (entries.size >= maxKeys && oldest !== undefined) entries.delete(oldest);
    const ms = ttlSeconds * 1_000;
    entries.set(key, { value, until: performance.now() + ms, untilDate: Date.now() + ms });
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
      const flight = flights.get(key);
      onGet?.(kept !== undefined ? 'hit' : flight !== undefined ? 'joined' : 'miss');
      if (kept !== undefined) return Promise.resolve(kept.value);
      return join(key, flight ?? depart(key, load));
    },
    peek: (key) => find(key)?.value,
    delete(key) {
      flights.delete(key);
      entries.delete(key);
    },
    clear,
    close() {
      clear();
      clearInterval(sweeping);
    },
  };
}
