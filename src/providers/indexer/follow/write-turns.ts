/** Runs work when it is its turn, in the order of asking. */
export type WriteTurns = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets so many indexes write at the same time: with all of them, other statements would wait for a connection in vain. */
export function createWriteTurns(atOnce: number): WriteTurns {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
