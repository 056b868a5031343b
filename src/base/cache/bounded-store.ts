import NodeCache from 'node-cache';

/** How an entry counts. */
type Place = {
  readonly ttlSeconds: number;
  /** Whose share it takes; undefined where nobody has one. */
  readonly company: string | undefined;
  readonly weight: number;
};

/** The entries of a company, the oldest first, with their weights. */
type Share = { readonly entries: Map<string, number>; weight: number };

const sweepSeconds = 60;

/**
 * Returns a node-cache that removes old entries when it is full, where the library would throw. A company has a quarter
 * of the weight and loses its own oldest entry first. When the cache is full, the company with most loses its oldest
 * entry.
 * @param options.most weight of all entries
 */
export function createBoundedStore<T>({ most }: { readonly most: number }) {
  const store = new NodeCache({ useClones: false, checkperiod: sweepSeconds });
  const shares = new Map<string, Share>();
  const owners = new Map<string, string>();
  let total = 0;
  const forget = (key: string) => {
    const owner = owners.get(key) ?? '';
    const share = shares.get(owner);
    const weight = share?.entries.get(key) ?? 0;
    owners.delete(key);
    share?.entries.delete(key);
    total -= weight;
    if (share !== undefined) share.weight -= weight;
    if (share?.entries.size === 0) shares.delete(owner);
  };
  store.on('del', forget);
  // node-cache keeps its entries in a plain object, whose own words such as `__proto__` are no keys.
  const named = (key: string) => `=${key}`;
  const removeOldest = ({ entries }: Share) => {
    const [oldest] = entries.keys();
    if (oldest !== undefined) store.del(oldest);
  };
  const heaviest = () =>
    [...shares.values()].reduce((one, other) => (other.weight > one.weight ? other : one));

  return {
    get: (key: string) => store.get<T>(named(key)),
    set(key: string, value: T, { ttlSeconds, company, weight }: Place) {
      const name = named(key);
      store.del(name);
      const mostOfOne = company === undefined ? most : most / 4;
      if (weight > mostOfOne) return;
      const owner = company ?? '';
      const own = () => shares.get(owner);
      for (let share = own(); share !== undefined && share.weight + weight > mostOfOne; share = own())
        removeOldest(share);
      while (total + weight > most) removeOldest(heaviest());
      const share = own() ?? { entries: new Map(), weight: 0 };
      shares.set(owner, share);
      share.entries.set(name, weight);
      share.weight += weight;
      owners.set(name, owner);
      total += weight;
      store.set(name, value, ttlSeconds);
    },
    delete: (key: string) => store.del(named(key)),
    clear() {
      store.flushAll();
      shares.clear();
      owners.clear();
      total = 0;
    },
    close: () => store.close(),
  };
}
