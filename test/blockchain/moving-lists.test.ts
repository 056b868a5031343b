import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MovingChain, startMovingChain } from './moving-chain.ts';

let chain: MovingChain;
beforeAll(async () => {
  chain = await startMovingChain();
});
afterAll(() => chain.close());

type Row = Readonly<Record<string, string | null>>;
type Page = { readonly rows: Row[]; readonly cursor: string | undefined; readonly block: string };
type Order = 'ASC' | 'DESC';
type Question = { readonly order?: Order; readonly limit?: number; readonly toBlock?: string };

/** A list of a wallet, by what its rows are known and ordered. */
type List = {
  readonly path: string;
  readonly orders: readonly (Order | undefined)[];
  readonly limits: readonly number[];
  readonly nameOf: (row: Row) => string;
  readonly placeOf: (row: Row) => string;
};

const padded = (text: string | null | undefined) => String(text ?? '').padStart(12, '0');
const nameOfApproval = (row: Row) => [row['token_address'], row['kind'], row['spender']].join();
const lists: Readonly<Record<'nfts' | 'history' | 'tokens' | 'approvals', List>> = {
  nfts: {
    path: 'nft',
    orders: ['ASC', 'DESC'],
    limits: [3],
    nameOf: (row) => String(row['token_id']),
    // In this chain a block has one transaction, and no token is changed without being moved.
    placeOf: (row) => padded(row['block_number']),
  },
  history: {
    path: 'wallet/history',
    orders: ['ASC', 'DESC'],
    limits: [3],
    nameOf: (row) => String(row['hash']),
    placeOf: (row) => padded(row['block_number']),
  },
  tokens: {
    // Each page asks the contracts, which takes the chain a while.
    path: 'wallet/tokens',
    orders: [undefined],
    limits: [5],
    nameOf: (row) => String(row['token_address']),
    placeOf: (row) => String(row['token_address']),
  },
  approvals: {
    path: 'wallet/approvals',
    orders: [undefined],
    limits: [2, 7],
    nameOf: nameOfApproval,
    placeOf: nameOfApproval,
  },
};
const walks = Object.entries(lists).flatMap(([name, list]) =>
  list.orders.flatMap((order) => list.limits.map((limit) => ({ name, list, order, limit }))),
);

async function page({ path }: List, question: Question, cursor?: string): Promise<Page> {
  const query = Object.entries({ ...question, cursor }).filter(([, value]) => value !== undefined);
  const asked = Object.fromEntries(query.map(([name, value]) => [name, String(value)]));
  const { body, headers } = await chain.ask(path, asked).expect(200);
  const { result, cursor: next } = body.history ?? body;
  return { rows: result, cursor: next || undefined, block: headers['x-index-block-number'] ?? '' };
}

/** The rows from a page on. @param meanwhile is done after each page, with what was seen until then */
async function walkOn(
  list: List,
  question: Question,
  from: Page,
  meanwhile?: (seen: readonly Row[]) => Promise<void>,
): Promise<Row[]> {
  const seen = [...from.rows];
  for (let { cursor } = from; cursor !== undefined; ) {
    await meanwhile?.(seen);
    const next = await page(list, question, cursor);
    seen.push(...next.rows);
    cursor = next.cursor;
  }
  return seen;
}

async function whole(list: List, question: Question): Promise<Row[]> {
  const most = { ...question, limit: 100 };
  return walkOn(list, most, await page(list, most));
}

/** NFTs of the wallet that the walk has seen, and others: one of each goes, another goes and comes back; new ones come. */
async function moveAround(owned: readonly string[], seen: readonly string[]): Promise<void> {
  const [walked, ahead] = [true, false].map((isSeen) => owned.filter((id) => seen.includes(id) === isSeen));
  for (const side of [walked, ahead]) {
    const [goes, returns] = side ?? [];
    if (goes !== undefined) await chain.sendAway(goes);
    if (returns === undefined) continue;
    await chain.sendAway(returns);
    await chain.sendBack(returns);
  }
  for (const _ of [walked, ahead]) await chain.mint();
  await chain.addToken();
}

/** More would make a walk from the oldest endless. */
const changes = 3;

describe('a walk while blocks come', () => {
  test.for(walks)('sees each row once: $name $order, by $limit', async ({ list, order, limit }) => {
    await chain.index();
    const question = { ...(order && { order }) };
    const start = (await whole(list, question)).map(list.nameOf);
    let changed = 0;
    const meanwhile = async (seen: readonly Row[]) => {
      changed += 1;
      if (changed > changes) return;
      const owned = (await whole(lists.nfts, { order: 'DESC' })).map(lists.nfts.nameOf);
      await moveAround(owned, seen.map(list.nameOf));
      await chain.index();
    };
    const first = await page(list, { ...question, limit });
    const rows = await walkOn(list, { ...question, limit }, first, meanwhile);
    const seen = rows.map(list.nameOf);
    expect(changed).toBeGreaterThan(0);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((name) => start.includes(name))).toEqual(start);
    const standsStill = list === lists.nfts || order === 'DESC';
    if (standsStill) expect(seen).toEqual(start);
    else expect(rows.map(list.placeOf)).toEqual(rows.map(list.placeOf).toSorted());
    if (order === 'ASC' && !standsStill) {
      expect(seen).toEqual((await whole(list, question)).map(list.nameOf));
    }
  });
});

describe('a walk while the chain replaces blocks', () => {
  test.for(walks)('goes on in the new branch: $name $order, by $limit', async ({ list, order, limit }) => {
    const owned = [await chain.mint(), await chain.mint(), await chain.mint()];
    const back = await chain.mark();
    const [gone = '', gone2 = ''] = [owned[1], owned[2]];
    await chain.mint();
    await chain.sendAway(gone);
    await chain.addToken();
    await chain.index();
    const question = { ...(order && { order }), limit };
    const first = await page(list, question);
    await back();

    await chain.sendAway(gone2);
    await chain.index();
    if (list === lists.nfts) {
      // The new branch has no block of that number yet.
      const cursor = first.cursor ?? '';
      const { headers } = await chain.ask(list.path, { cursor }).expect(503);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    await chain.addToken();
    await chain.mint();
    await chain.mint();
    await chain.sendAway(owned[0] ?? '');
    await chain.index();

    const asOf = list === lists.nfts ? { toBlock: first.block } : {};
    const present = await whole(list, { ...question, ...asOf });
    const last = list.placeOf(first.rows.at(-1) ?? {});
    const isBehind = (row: Row) => (order === 'DESC' ? list.placeOf(row) < last : list.placeOf(row) > last);
    const rest = (await walkOn(list, question, first)).slice(first.rows.length);
    expect(rest.map(list.nameOf)).toEqual(present.filter(isBehind).map(list.nameOf));
    expect(rest.length).toBeGreaterThan(0);
    if (list === lists.nfts && order === 'ASC') {
      // As of the block of the first page: what left before it has gone, what left or came after it has not.
      const names = rest.map(list.nameOf);
      expect(names).toEqual(expect.arrayContaining(owned.slice(0, 2)));
      expect(names).not.toContain(gone2);
    }
  });
});
