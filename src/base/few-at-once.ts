/** Runs a piece of work when it is its turn, in the order of asking. */
export type FewAtOnce = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns a function that runs so many pieces of work at once, the others in the order in which they came. */
export function createFewAtOnce(most: number): FewAtOnce {
  const waiting: (() => void)[] = [];
  let free = most;

  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // It has this place.
      if (next !== undefined) next();
      else free += 1;
    }
  };
}

/** Does work for each item, for so many at once, and returns what came of it. After a failure it begins with no further item. */
export async function mapFewAtOnce<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  let hasFailed = false;
  const takeTurns = async () => {
    for (const [index, item] of left) {
      if (hasFailed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: most }, takeTurns));
  return results;
}
