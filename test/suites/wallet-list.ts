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
    test.each(['1', '7', '100'])('come to an end after everything was there once: by %s', async (limit) => {
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

    test('that is empty is none', async () => {
      expect(pageOf((await get({ cursor: '' }).expect(200)).body).page).toBe(0);
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

  describe('400: a cursor', () => {
    const refused = async (changes: Readonly<Record<string, string>>) => {
      setup.forget();
      const { body } = await get(changes).expect(400);
      expect(body).toMatchObject({
        code: 'cursor_invalid',
        detail: 'Cursor is invalid',
        errors: [{ in: 'query', name: 'cursor', message: 'Cursor is invalid' }],
      });
      expect(setup.asked()).toEqual([]);
    };

    test.each([
      { limit: '8' },
      { limit: '100' },
      { order: 'ASC' },
      { address: stranger },
      { chainId: 'other' },
    ])('is refused with %j, which contradicts it', async (changes) => {
      const cursor = await cursorOf({ address: setup.busy, limit: '7' });
      const chainId = 'chainId' in changes ? setup.otherChainId : setup.chainId;
      await refused({ address: setup.busy, cursor, ...changes, chainId });
    });

    test('is refused when it was altered or cut off', async () => {
      const cursor = await cursorOf({ address: setup.busy, limit: '7' });
      const middle = cursor.length / 2;
      const other = cursor[middle] === 'A' ? 'B' : 'A';
      await refused({
        address: setup.busy,
        cursor: cursor.slice(0, middle) + other + cursor.slice(middle + 1),
      });
      await refused({ address: setup.busy, cursor: cursor.slice(0, -1) });
      await refused({ address: setup.busy, cursor: `${cursor}A` });
      await refused({ address: setup.busy, cursor: ` ${cursor}` });
    });

    test.each(['x', '../..', 'eyJhbGciOiJIUzI1NiJ9.e30.abc', 'A'.repeat(4_096)])(
      'is refused when we never made it: %s',
      (cursor) => refused({ cursor }),
    );

    test('of the other list is refused', async () => {
      const other = path.endsWith('/nft') ? '/blockchain/v1/api/wallet/history' : '/blockchain/v1/api/nft';
      const query = new URLSearchParams({ address: setup.busy, chainId: setup.chainId, limit: '7' });
      const { body } = await setup.service.as(setup.service.keys.acme).get(`${other}?${query}`).expect(200);
      await refused({ address: setup.busy, cursor: body.cursor ?? body.history.cursor });
    });

    test('that is too long is refused by its length', async () => {
      const { body } = await get({ cursor: 'A'.repeat(4_097) }).expect(400);
      expect(body).toMatchObject({ code: 'input_invalid', errors: [{ name: 'cursor' }] });
    });
  });

  describe('400', () => {
    test.each([
      ['', 'address_required', 'Address is required'],
      ['chainId=1', 'address_required', 'Address is required'],
      ['address=&chainId=1', 'address_required', 'Address is required'],
      [`address=${stranger}`, 'network_id_required', 'Network ID is required'],
      [`address=${stranger}&chainId=`, 'network_id_required', 'Network ID is required'],
      ['address=vitalik.eth', 'network_id_required', 'Network ID is required'],
    ])('says what is missing: %s', async (query, code, detail) => {
      const { body } = await setup.ask(query).expect(400);
      expect(body).toMatchObject({ code, detail });
    });

    test.each(['0x1', '01', '2', '9'.repeat(30)])(
      'finds no network under the chain id %s',
      async (chainId) => {
        const { body } = await get({ chainId }).expect(400);
        expect(body).toMatchObject({
          code: 'network_not_found',
          detail: `Network with chainId ${chainId} not found`,
        });
      },
    );

    test.each([
      'vitalik.eth',
      stranger.slice(0, -1),
      stranger.replace('7', 'g'),
      checksummed.replace('C51', 'c51'),
    ])('refuses the address "%s"', async (address) => {
      const { body } = await get({ address }).expect(400);
      expect(body).toMatchObject({ code: 'input_invalid', errors: [{ in: 'query', name: 'address' }] });
    });

    test.each([
      { limit: '0' },
      { limit: '101' },
      { order: 'desc' },
      { page: '2' },
      { contractAddress: stranger },
    ])('refuses %j, naming it', async (changes) => {
      const { body } = await get(changes).expect(400);
      const name = Object.keys(changes)[0];
      expect(body).toMatchObject({ code: 'input_invalid', errors: [{ in: 'query', name }] });
    });

    test.each(['address', 'chainId', 'cursor', 'order', 'limit'])('refuses %s given twice', async (name) => {
      const query = `address=${stranger}&chainId=1&${name}=1&${name}=1`;
      const { body } = await setup.ask(query).expect(400);
      expect(body.errors).toContainEqual(expect.objectContaining({ in: 'query', name }));
    });

    test('asks the provider nothing', async () => {
      await get({ limit: '0' });
      await get({ chainId: '2' });
      expect(setup.asked()).toEqual([]);
    });
  });
}
