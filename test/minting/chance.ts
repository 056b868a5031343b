/** What decides how a fault happens; the same seed gives the same choices. */
export type Chance = {
  /** A whole number from 0, below this. */
  below(limit: number): number;
  of<T>(items: readonly T[]): T;
};

/** Numbers from 0 to 1 that only the seed decides (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function createChance(seed: number): Chance {
  const random = createRandom(seed);
  return {
    below: (limit) => Math.floor(random() * limit),
    of(items) {
      const item = items[Math.floor(random() * items.length)];
      if (item === undefined && items.length === 0) throw new Error('nothing to choose from');
      return item as (typeof items)[number]; // the index is below the length
    },
  };
}
