import NodeCache from 'node-cache';

/** A bounded cache in this process, with one flight per key: concurrent misses share one load. */
export type FlightCache<V> = {
  /** The cached value, or the one that `load` gives. A failed load is told to all waiters and not kept. */
  get(key: string, load: () => Promise<Loaded<V>>): Promise<V>;
  delete(key: string): void;
  clear(): void;
  close(): void;
};

/** A value and how long it may be kept; 0 seconds or less keeps it not at all. */
export type Loaded<V> = { readonly value: V; readonly ttlSeconds: number };

/**
 * @param maxKeys when full, the oldest entry makes room: node-cache itself would throw
 */
export function createFlightCache<V>({ maxKeys }: { maxKeys: number }): FlightCache<V> {
  // Cloning would copy every value on each read; values are frozen by convention instead.
  const cache = new NodeCache({ useClones: false, checkperiod: 60, deleteOnExpire: true });
  // Insertion order of a Map is the age of its keys: the first is the oldest.
  const ages = new Map<string, true>();
  cache.on('del', (key: string) => ages.delete(key));
  const flights = new Map<string, Promise<V>>();
  // Raised by every removal: a load that began before it must not put back what it removed.
  let generation = 0;

  const keep = (key: string, { value, ttlSeconds }: Loaded<V>) => {
    if (ttlSeconds <= 0) return;
    ages.delete(key);
    if (ages.size >= maxKeys) {
      const [oldest] = ages.keys();
      if (oldest !== undefined) cache.del(oldest);
    }
    cache.set(key, value, ttlSeconds);
    ages.set(key, true);
  };

  const fly = async (key: string, load: () => Promise<Loaded<V>>) => {
    const started = generation;
    const loaded = await load();
    if (started === generation) keep(key, loaded);
    return loaded.value;
  };

  const forget = () => {
    generation += 1;
    flights.clear();
  };

  return {
    get(key, load) {
      const cached = cache.get<V>(key);
      if (cached !== undefined) return Promise.resolve(cached);
      const flying = flights.get(key);
      if (flying !== undefined) return flying;
      const flight: Promise<V> = fly(key, load).finally(() => {
        if (flights.get(key) === flight) flights.delete(key);
      });
      flights.set(key, flight);
      return flight;
    },
    delete(key) {
      forget();
      cache.del(key);
    },
    clear() {
      forget();
      cache.flushAll();
      ages.clear();
    },
    close() {
      cache.close();
    },
  };
}
