import { csvLine } from '../base/csv.ts';
import type { Batches } from './batches.ts';
import { sizeInMemory } from './size-in-memory.ts';
import { TextStream } from './text-stream.ts';

/**
 * Returns a list as CSV, a batch at a time.
 * @param names of the columns
 * @param cellsOf gives the cells of an item, in the order of the columns
 */
export function batchesCsv<Item>(
  names: readonly string[],
  { first, rest }: Batches<Item>,
  cellsOf: (item: Item) => readonly string[],
): TextStream {
  const linesOf = (items: readonly Item[]) => items.map((item) => csvLine(cellsOf(item))).join('');
  const stream = new TextStream('text/csv; charset=utf-8', pieces(), sizeInMemory(first));
  return stream;

  async function* pieces(): AsyncGenerator<string> {
    yield csvLine(names);
    yield linesOf(first);
    for await (const batch of rest ?? []) {
      stream.heldBytes = sizeInMemory(batch);
      yield linesOf(batch);
    }
  }
}
