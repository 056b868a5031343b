import type { Tx } from '../contract/transaction.ts';

type Wave = { readonly items: unknown[]; readonly results: Promise<readonly unknown[]> };

const waves = new WeakMap<Tx, Map<string, Wave>>();

/**
 * Asks for what one statement can do for many: the works that share a transaction and ask at the same moment
 * are answered by one statement.
 * @param what names the statement, and what its items have in common
 * @param run asks for all of them: gives a result for each item, in their order
 * @throws what `run` throws, to everybody who asked
 */
export async function together<Item, Result>(
  tx: Tx,
  what: string,
  item: Item,
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result> {
  const open = waves.get(tx) ?? new Map<string, Wave>();
  waves.set(tx, open);
  const begin = (): Wave => {
    const items: Item[] = [];
    const close = () => {
      open.delete(what);
      return run(items);
    };
    return { items, results: endOfMoment().then(close) };
  };
  const wave = open.get(what) ?? begin();
  open.set(what, wave);
  const place = wave.items.push(item) - 1;
  return (await wave.results)[place] as Result; // of this name's own `run`, for this item
}

/** Everybody who was waiting for one answer goes on at the same moment, and asks for the next thing in it. */
const endOfMoment = () => new Promise<void>((resolve) => process.nextTick(resolve));
