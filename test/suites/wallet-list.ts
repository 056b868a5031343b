import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { checksummed, type ListSetup, stranger } from '../blockchain/wallet-lists.ts';

export type ListOperation = {
  readonly path: string;
  /** The page in the answer's body. */
  readonly pageOf: (body: Body) => Page;
};

// biome-ignore lint/suspicious/noExplicitAny: tests look at fields of any answer
type Body = any;
type Page = {
  readonly cursor?: string;
  readonly page: number;
  readonly page_size: number;
  readonly result: readonly Body[];
};

/** The one suite that both lists of a wallet pass over every data provider: input, paging, cursors. */
export function describeWalletList(
  { path, pageOf }: ListOperation,
  start: (path: string) => Promise<ListSetup>,
): void {
  let setup: ListSetup;
  beforeAll(async () => {
    setup = await start(path);
  });
  afterEach(() => setup.forget());
  afterAll(() => setup.close());

  const get: ListSetup['get'] = (changes) => setup.get(changes);
  const cursorOf = async (changes: Readonly<Record<string, string>>): Promise<string> => {
    const { cursor } = pageOf((await get(changes).expect(200)).body);
    if (cursor === undefined) throw new Error('there is no next page');
    return cursor;
  };

  describe('200: pages', () => {
    test.each(['7', '100'])('come to an end after everything was there once: by %s', async (limit) => {
      const pages: Page[] = [];
      let cursor: string | undefined;
      do {
        const answer = await get({ address: setup.busy, limit, ...(cursor && { cursor }) }).expect(200);
        pages.push(pageOf(answer.body));
        cursor = pages.at(-1)?.cursor;
        const next = /^<(.+)>; rel="next"$/.exec(answer.headers['link'] ?? '')?.[1];
        const link = next === undefined ? undefined : new URL(next, 'http://here');
        expect(link?.searchParams.get('cursor')).toBe(cursor);
        expect(link?.pathname ?? path).toBe(path);
      } while (cursor !== undefined);
      const sizes = pages.map(({ result }) => result.length);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(120);
      expect(pages.map(({ page_size: size }) => size)).toEqual(sizes);
      expect(pages.map(({ page }) => page)).toEqual(pages.map((_, index) => index));
      expect(new Set(pages.flatMap(({ result }) => result.map((item) => JSON.stringify(item)))).size).toBe(
        120,
      );
    });

    test('have no cursor when everything is on one', async () => {
      const page = pageOf((await get().expect(200)).body);
      expect(page).not.toHaveProperty('cursor');
      expect(page.page).toBe(0);
    });

    test('are empty for a wallet that never did anything, in whatever case it is written', async () => {
      for (const address of [stranger, checksummed, `0x${stranger.slice(2).toUpperCase()}`]) {
        const page = pageOf((await get({ address }).expect(200)).body);
        expect(page).toEqual(expect.objectContaining({ page: 0, page_size: 0, result: [] }));
      }
      const asked = setup.asked().map((request) => request.path);
      expect(asked.every((place) => place.includes(stranger))).toBe(true);
    });
  });

  describe('200: a cursor', () => {
    test('stands for the order and the limit of its list, which may be repeated', async () => {
      const cursor = await cursorOf({ address: setup.busy, limit: '7', order: 'ASC' });
      const alone = await get({ address: setup.busy, cursor }).expect(200);
      const together = await get({ address: setup.busy, cursor, limit: '7', order: 'ASC' }).expect(200);
      expect(pageOf(alone.body).page_size).toBe(7);
      expect(pageOf(together.body).result).toEqual(pageOf(alone.body).result);
    });

    test('is good in another process, and after its key was replaced', async () => {
      const cursor = await cursorOf({ address: setup.busy, limit: '7' });
      const old = `cursors:${Buffer.alloc(32, 7).toString('base64')}`;
      const rotated = `new:${Buffer.alloc(32, 8).toString('base64')},${old}`;
      const twin = await setup.service.twin({ CURSOR_KEYS: rotated });
      const query = new URLSearchParams({ address: setup.busy, chainId: setup.chainId, cursor });
      const { body } = await twin.as(twin.keys.acme).get(`${path}?${query}`).expect(200);
      expect(pageOf(body).page).toBe(1);
    });
  });

  // What else is no cursor of a list, the tests of cursors say; what is no input of it, those of dispatch.
  describe('400: a cursor', () => {
    test.each([{ limit: '8' }, { order: 'ASC' }, { address: stranger }, { chainId: 'other' }])(
      'is refused with %j, which contradicts it, and the provider is asked nothing',
      async (changes) => {
        const cursor = await cursorOf({ address: setup.busy, limit: '7' });
        const chainId = 'chainId' in changes ? setup.otherChainId : setup.chainId;
        setup.forget();
        const { body } = await get({ address: setup.busy, cursor, ...changes, chainId }).expect(400);
        expect(body).toMatchObject({
          code: 'cursor_invalid',
          detail: 'Cursor is invalid',
          errors: [{ in: 'query', name: 'cursor', message: 'Cursor is invalid' }],
        });
        expect(setup.asked()).toEqual([]);
      },
    );
  });

  test('400: input that is refused asks the provider nothing', async () => {
    await get({ limit: '0' }).expect(400);
    await get({ chainId: '2' }).expect(400);
    expect(setup.asked()).toEqual([]);
  });
}
