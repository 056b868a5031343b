import pLimit from 'p-limit';

/** Does work for each item, for so many at once, and returns the results. After a failure it begins with no further item. */
export function mapFewAtOnce<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const limit = pLimit(most);
  return limit.map(items, async (item) => {
    try {
      return await work(item);
    } catch (error) {
      limit.clearQueue();
      throw error;
    }
  });
}
