import { ItemStream } from '../contract/item-stream.ts';
import { sizeInMemory } from '../contract/size-in-memory.ts';

type Reading<T> = {
  /** Items of the first batch, at most. */
  readonly size: number;
  /** Items of the batch after this one, at most; as many as of the first by default. */
  readonly sizeAfter?: (batch: readonly T[]) => number;
  /** Reads the items after the given one, or the first ones, in the order of the list. */
  readonly read: (after: T | undefined, size: number) => Promise<readonly T[]>;
};

/** A list that is read batch by batch. */
export type Batches<T> = {
  readonly first: readonly T[];
  /** Undefined where the first batch is all. */
  readonly rest: AsyncIterable<readonly T[]> | undefined;
};

/** Reads the first batch of a list; each further one is read when it is asked for, and holds nothing meanwhile. */
export async function readInBatches<T>({
  size,
  sizeAfter = () => size,
  read,
}: Reading<T>): Promise<Batches<T>> {
  let batch = await read(undefined, size);
  const first = batch;
  const rest = async function* () {
    for (let asked = size; batch.length === asked; ) {
      asked = sizeAfter(batch);
      batch = await read(batch.at(-1), asked);
      yield batch;
    }
  };
  return { first, rest: first.length < size ? undefined : rest() };
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

// What is less is made in one go, which takes some milliseconds.
const largeBytes = 1024 * 1024;

type Page<T, Item> = {
  readonly toItem: (value: T) => Item;
  /** What a value takes in memory, about. */
  readonly bytesOf: (value: T) => number;
};

/**
 * The array of an answer whose values were read already: as it is where they are small, else as a stream, so that a piece is
 * made when the caller has taken the one before it, and others come in between.
 */
export function pageOf<T, Item>(
  values: readonly T[],
  { toItem, bytesOf }: Page<T, Item>,
): Item[] | ItemStream<Item> {
  const bytes = values.reduce((sum, value) => sum + bytesOf(value), 0);
  if (bytes < largeBytes) return values.map(toItem);
  // Taken out when it is sent, so that nothing keeps it for as long as the others take.
  const left = [...values];
  const all = function* () {
    for (let value = left.shift(); value !== undefined; value = left.shift()) {
      yield [toItem(value)];
      stream.heldBytes -= bytesOf(value);
    }
  };
  const stream = new ItemStream<Item>(all(), bytes);
  return stream;
}
