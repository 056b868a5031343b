import fc from 'fast-check';
import { caller, type FuzzContext } from './fuzz-context.ts';
import { assert, type Property, property } from './property.ts';

type Page = { readonly cursor?: string; readonly page: number; readonly result: readonly object[] };

const whole = (json: object) => json as Page;
const lists = [
  {
    operation: 'getWalletHistory',
    isOrdered: true,
    pageOf: (json: object) => (json as { history: Page }).history,
  },
  { operation: 'listWalletNfts', isOrdered: true, pageOf: whole },
  { operation: 'listWalletTokens', isOrdered: false, pageOf: whole },
  { operation: 'listWalletApprovals', isOrdered: false, pageOf: whole },
] as const;

const maxPages = 6;

/** Pages follow each other without a row twice, and a cursor is good for its own list only. */
export function pageChain(context: FuzzContext): Property {
  const walks = fc.record({
    list: fc.constantFrom(...lists),
    wallet: fc.constantFrom(...context.wallets),
    order: fc.constantFrom('ASC', 'DESC'),
    limit: fc.integer({ min: 1, max: 20 }),
    repeats: fc.boolean(),
    breakAt: fc.nat(500),
  });
  return property('pages in a row', 2, walks, async (prober, walk) => {
    const { list, wallet, order, limit, repeats, breakAt } = walk;
    const call = caller(context, prober);
    const ids = { wallet, chainId: context.chainIds[0] ?? '' };
    const seen = new Set<string>();
    const ordered = (by: string) => (list.isOrdered ? `&order=${by}` : '');
    let query = `limit=${limit}${ordered(order)}`;
    for (let number = 0; number < maxPages; number += 1) {
      const reply = await call(list.operation, { ids, query });
      assert(reply.status === 200, `page ${number} answered ${reply.outcome}`);
      const { cursor, page, result } = list.pageOf(reply.json);
      assert(page === number, `page ${number} says that it is ${page}`);
      assert(result.length <= limit, `page ${number} has ${result.length} rows`);
      for (const row of result) {
        const text = JSON.stringify(row);
        assert(!seen.has(text), `a row came twice, on page ${number} again`);
        seen.add(text);
      }
      if (!cursor) return;
      const wrong = [
        ...(list.isOrdered ? [`cursor=${cursor}${ordered(order === 'ASC' ? 'DESC' : 'ASC')}`] : []),
        `cursor=${cursor}&limit=${limit + 1}`,
        `cursor=${altered(cursor, breakAt)}`,
      ];
      const refused = await call(list.operation, { ids, query: wrong[number % wrong.length] ?? '' });
      assert(refused.outcome === '400 cursor_invalid', `a wrong cursor answered ${refused.outcome}`);
      query = repeats ? `cursor=${cursor}&limit=${limit}${ordered(order)}` : `cursor=${cursor}`;
    }
  });
}

function altered(cursor: string, at: number): string {
  const place = at % cursor.length;
  return cursor.slice(0, place) + (cursor[place] === 'A' ? 'B' : 'A') + cursor.slice(place + 1);
}
