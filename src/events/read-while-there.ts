import { type Batches, readInBatches } from '../contract/batches.ts';

export const batchSize = 1_000;

/**
 * Reads rows of an event in batches.
 * @param read gives at most `batchSize` rows after a place; undefined where there is no such event
 * @returns undefined where there is no such event; when it goes away later, a batch rejects
 */
export async function readWhileThere<Row extends { readonly seq: string }>(
  read: (after: string | undefined) => Promise<readonly Row[] | undefined>,
): Promise<Batches<Row> | undefined> {
  let isGone = false;
  const batches = await readInBatches<Row>(async (last) => {
    const rows = await read(last?.seq);
    isGone = rows === undefined;
    if (isGone && last !== undefined) throw new Error('the event went away while its rows were read');
    return { items: rows ?? [], isLast: (rows?.length ?? 0) < batchSize };
  });
  return isGone ? undefined : batches;
}
