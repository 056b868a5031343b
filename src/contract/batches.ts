import { ItemStream } from './item-stream.ts';
import { sizeInMemory } from './size-in-memory.ts';

type Batch<T> = { readonly items: readonly T[]; readonly isLast: boolean };

/** A list that is read batch by batch. */
export type Batches<T> = {
  readonly first: readonly T[];
  /** Undefined where the first batch is all. */
  readonly rest: AsyncIterable<readonly T[]> | undefined;
};

/**
 * Reads the first batch of a list. Each further batch is read when it is asked for, and uses no connection meanwhile.
 * @param read reads the items after the given one, or the first items, in the order of the list
 */
export async function readInBatches<T>(
  read: (after: T | undefined) => Promise<Batch<T>>,
): Promise<Batches<T>> {
  let batch = await read(undefined);
  const { items: first, isLast } = batch;
  const rest = async function* () {
    while (!batch.isLast) {
      batch = await read(batch.items.at(-1));
      yield batch.items;
    }
  };
  return { first, rest: isLast ? undefined : rest() };
}

export async function* mapBatches<T, Other>(
  batches: AsyncIterable<readonly T[]>,
  convert: (value: T) => Other,
): AsyncGenerator<readonly Other[]> {
  for await (const batch of batches) yield batch.map(convert);
}

/** The array of an answer: as it is where it is short, else as a stream. */
export function arrayOf<T, Item>(
  { first, rest }: Batches<T>,
  toItem: (value: T) => Item,
): Item[] | ItemStream<Item> {
  const items = first.map(toItem);
  if (rest === undefined) return items;
  // Taken out when it is sent, so that nothing keeps it for as long as the others take.
  const begun = [items];
  const all = async function* () {
    yield* begun.splice(0);
    for await (const batch of mapBatches(rest, toItem)) {
      stream.heldBytes = sizeInMemory(batch);
      yield batch;
    }
  };
  const stream = new ItemStream<Item>(all(), sizeInMemory(items));
  return stream;
}
