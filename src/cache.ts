import NodeCache from 'node-cache';

/** A bounded cache in this process, with one flight per key: concurrent misses share one load. */
export type FlightCache<V> = {
  /**
   * The cached value, or the one that `load` gives. A failed load is told to all who wait for it and not
   * kept. Values are handed out as they are, never cloned: nobody may change them.
   */
  get(key: string, load: () => Promise<Loaded<V>>): Promise<V>;
  /** Forgets the key; a load of it that is under way still answers its callers but is not kept. */
  delete(key: string): void;
  /** Forgets everything, loads under way included. */
  clear(): void;
  /** Forgets everything and stops the housekeeping timer. */
  close(): void;
};

/** A value and how long it may be kept, from now on; 0 seconds or less keeps it not at all. */
export type Loaded<V> = { readonly value: V; readonly ttlSeconds: number };

/** `joined` waits for a load that somebody else has begun. */
export type OnGet = (from: 'hit' | 'joined' | 'miss') => void;

type Kept<V> = { readonly value: V };

// node-cache keeps its entries in a plain object, where `constructor` would be found without being set.
const slotOf = (key: string) => `:${key}`;

/**
 * @param maxKeys at least 1; when full, the oldest entry makes room: node-cache itself would throw
 * @param onGet told where each value comes from
 */
export function createFlightCache<V>({ maxKeys, onGet }: { maxKeys: number; onGet?: OnGet }): FlightCache<V> {
  const cache = new NodeCache({ useClones: false, checkperiod: 60, deleteOnExpire: true });
  // A Set keeps the order of insertion: its first slot is the oldest.
  const ages = new Set<string>();
  cache.on('del', (slot: string) => ages.delete(slot));
  // A load is kept only while it stands here, so removing it is all that a removal has to do.
  const flights = new Map<string, Promise<V>>();

  const keep = (key: string, { value, ttlSeconds }: Loaded<V>) => {
    // Written so that NaN is not kept either: node-cache would take it for "for ever".
    if (!(ttlSeconds > 0)) return;
    const slot = slotOf(key);
    ages.delete(slot);
    const [oldest] = ages;
    if (ages.size >= maxKeys && oldest !== undefined) cache.del(oldest);
    cache.set<Kept<V>>(slot, { value }, ttlSeconds);
    ages.add(slot);
  };

  const depart = (key: string, load: () => Promise<Loaded<V>>): Promise<V> => {
    // The async function turns what `load` throws at once into a rejection.
    const loading = (async () => load())();
    const flight = loading
      .then((loaded) => {
        if (flights.get(key) === flight) keep(key, loaded);
        return loaded.value;
      })
      .finally(() => {
        if (flights.get(key) === flight) flights.delete(key);
      });
    flights.set(key, flight);
    return flight;
  };

  const clear = () => {
    flights.clear();
    cache.flushAll();
    ages.clear();
  };

  return {
    get(key, load) {
      const kept = cache.get<Kept<V>>(slotOf(key));
      const flight = flights.get(key);
      onGet?.(kept !== undefined ? 'hit' : flight !== undefined ? 'joined' : 'miss');
      if (kept !== undefined) return Promise.resolve(kept.value);
      return flight ?? depart(key, load);
    },
    delete(key) {
      flights.delete(key);
      cache.del(slotOf(key));
    },
    clear,
    close() {
      clear();
      cache.close();
    },
  };
}
