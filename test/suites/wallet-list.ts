import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { busy, checksummed, startWorld, stranger, type World } from '../blockchain/wallet-lists.ts';
import type { Mishap } from '../support/moralis-server.ts';

type ListOperation = {
  readonly path: string;
  /** The page in the answer's body. */
  readonly pageOf: (body: Body) => Page;
  /** What a failing provider is answered with. */
  readonly failure: { readonly code: string; readonly detail: string };
};

// biome-ignore lint/suspicious/noExplicitAny: tests look at fields of any answer
type Body = any;
type Page = {
  readonly cursor?: string;
  readonly page: number;
  readonly page_size: number;
  readonly result: readonly Body[];
};

/** The one suite that both lists of a wallet pass: input, paging, cursors and failures. */
export function describeWalletList({ path, pageOf, failure }: ListOperation): void {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(path);
  });
  afterEach(() => world.server.forget());
  afterAll(() => world.close());

  const get: World['get'] = (changes) => world.get(changes);
  const cursorOf = async (changes: Readonly<Record<string, string>>): Promise<string> => {
    const { cursor } = pageOf((await get(changes).expect(200)).body);
    if (cursor === undefined) throw new Error('there is no next page');
    return cursor;
  };

  describe('200: pages', () => {
    it.each(['1', '7', '100'])('come to an end after everything was there once: by %s', async (limit) => {
      const pages: Page[] = [];
      let cursor: string | undefined;
      do {
        const { body } = await get({ address: busy, limit, ...(cursor && { cursor }) }).expect(200);
        pages.push(pageOf(body));
        cursor = pages.at(-1)?.cursor;
      } while (cursor !== undefined);
      const sizes = pages.map(({ result }) => result.length);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(120);
      expect(pages.map(({ page_size: size }) => size)).toEqual(sizes);
      expect(pages.map(({ page }) => page)).toEqual(pages.map((_, index) => index));
      expect(new Set(pages.flatMap(({ result }) => result.map((item) => JSON.stringify(item)))).size).toBe(
        120,
      );
    });

    it('have no cursor when everything is on one', async () => {
      const page = pageOf((await get().expect(200)).body);
      expect(page).not.toHaveProperty('cursor');
      expect(page.page).toBe(0);
    });

    it('are empty for a wallet that never did anything, in whatever case it is written', async () => {
      for (const address of [stranger, checksummed, `0x${stranger.slice(2).toUpperCase()}`]) {
        const page = pageOf((await get({ address }).expect(200)).body);
        expect(page).toEqual(expect.objectContaining({ page: 0, page_size: 0, result: [] }));
      }
      const asked = world.server.asked.map((request) => request.path);
      expect(asked.every((place) => place.includes(stranger))).toBe(true);
    });

    it('are never kept: each is asked for anew', async () => {
      await get().expect(200).expect('cache-control', 'no-store');
      await get().expect(200);
      expect(world.server.asked).toHaveLength(2);
    });

    it('tell no block that they are complete to, as the hosted provider does not know it', async () => {
      const { headers } = await get().expect(200);
      expect(Object.keys(headers).filter((name) => name.startsWith('x-index'))).toEqual([]);
    });
  });

  describe('200: a cursor', () => {
    it('stands for the order and the limit of its list, which may be repeated', async () => {
      const cursor = await cursorOf({ address: busy, limit: '7', order: 'ASC' });
      const alone = await get({ address: busy, cursor }).expect(200);
      const together = await get({ address: busy, cursor, limit: '7', order: 'ASC' }).expect(200);
      expect(pageOf(alone.body).page_size).toBe(7);
      expect(pageOf(together.body).result).toEqual(pageOf(alone.body).result);
    });

    it('that is empty is none', async () => {
      expect(pageOf((await get({ cursor: '' }).expect(200)).body).page).toBe(0);
    });

    it('is good in another process, and after its key was replaced', async () => {
      const cursor = await cursorOf({ address: busy, limit: '7' });
      const old = `cursors:${Buffer.alloc(32, 7).toString('base64')}`;
      const rotated = `new:${Buffer.alloc(32, 8).toString('base64')},${old}`;
      const twin = await world.service.twin({ CURSOR_KEYS: rotated });
      const query = new URLSearchParams({ address: busy, chainId: '1', cursor });
      const { body } = await twin.as(twin.keys.acme).get(`${path}?${query}`).expect(200);
      expect(pageOf(body).page).toBe(1);
    });
  });

  describe('400: a cursor', () => {
    const refused = async (changes: Readonly<Record<string, string>>) => {
      world.server.forget();
      const { body } = await get(changes).expect(400);
      expect(body).toMatchObject({
        code: 'cursor_invalid',
        detail: 'Cursor is invalid',
        errors: [{ in: 'query', name: 'cursor', message: 'Cursor is invalid' }],
      });
      expect(world.server.asked).toEqual([]);
    };

    it.each([
      { limit: '8' },
      { limit: '100' },
      { order: 'ASC' },
      { address: stranger },
      { chainId: '31337' },
    ])('is refused with %j, which contradicts it', async (changes) => {
      const cursor = await cursorOf({ address: busy, limit: '7' });
      await refused({ address: busy, cursor, ...changes });
    });

    it('is refused when it was altered or cut off', async () => {
      const cursor = await cursorOf({ address: busy, limit: '7' });
      const middle = cursor.length / 2;
      const other = cursor[middle] === 'A' ? 'B' : 'A';
      await refused({ address: busy, cursor: cursor.slice(0, middle) + other + cursor.slice(middle + 1) });
      await refused({ address: busy, cursor: cursor.slice(0, -1) });
      await refused({ address: busy, cursor: `${cursor}A` });
      await refused({ address: busy, cursor: ` ${cursor}` });
    });

    it.each(['x', 'null', '0', '../..', '%00', 'é', 'eyJhbGciOiJIUzI1NiJ9.e30.abc', 'A'.repeat(4_096)])(
      'is refused when we never made it: %s',
      (cursor) => refused({ cursor }),
    );

    it('of the other list is refused', async () => {
      const other = path.endsWith('/nft') ? '/blockchain/v1/api/wallet/history' : '/blockchain/v1/api/nft';
      const query = new URLSearchParams({ address: busy, chainId: '1', limit: '7' });
      const { body } = await world.service.as(world.service.keys.acme).get(`${other}?${query}`).expect(200);
      await refused({ address: busy, cursor: body.cursor ?? body.history.cursor });
    });

    it('that is too long is refused by its length', async () => {
      const { body } = await get({ cursor: 'A'.repeat(4_097) }).expect(400);
      expect(body).toMatchObject({ code: 'input_invalid', errors: [{ name: 'cursor' }] });
    });
  });

  describe('400', () => {
    it.each([
      ['', 'address_required', 'Address is required'],
      ['chainId=1', 'address_required', 'Address is required'],
      ['address=&chainId=1', 'address_required', 'Address is required'],
      [`address=${stranger}`, 'network_id_required', 'Network ID is required'],
      [`address=${stranger}&chainId=`, 'network_id_required', 'Network ID is required'],
      ['address=vitalik.eth', 'network_id_required', 'Network ID is required'],
    ])('says what is missing: %s', async (query, code, detail) => {
      const { body } = await world.ask(query).expect(400);
      expect(body).toMatchObject({ code, detail });
    });

    it.each(['0x1', '01', '-1', '1e3', '1.0', ' 1', '0', '2', 'eth', '9'.repeat(30)])(
      'finds no network under the chain id %s',
      async (chainId) => {
        const { body } = await get({ chainId }).expect(400);
        expect(body).toMatchObject({
          code: 'network_not_found',
          detail: `Network with chainId ${chainId} not found`,
        });
      },
    );

    it.each([
      'vitalik.eth',
      stranger.slice(0, -1),
      `${stranger}0`,
      ` ${stranger}`,
      `${stranger} `,
      stranger.slice(2),
      stranger.replace('7', 'g'),
      checksummed.replace('C51', 'c51'),
    ])('refuses the address "%s"', async (address) => {
      const { body } = await get({ address }).expect(400);
      expect(body).toMatchObject({ code: 'input_invalid', errors: [{ in: 'query', name: 'address' }] });
    });

    it.each([
      { limit: '0' },
      { limit: '101' },
      { limit: '-1' },
      { limit: '1.5' },
      { limit: '1e1' },
      { limit: 'ten' },
      { order: 'desc' },
      { order: 'newest' },
      { page: '2' },
      { contractAddress: stranger },
    ])('refuses %j, naming it', async (changes) => {
      const { body } = await get(changes).expect(400);
      const name = Object.keys(changes)[0];
      expect(body).toMatchObject({ code: 'input_invalid', errors: [{ in: 'query', name }] });
    });

    it.each(['address', 'chainId', 'cursor', 'order', 'limit'])('refuses %s given twice', async (name) => {
      const query = `address=${stranger}&chainId=1&${name}=1&${name}=1`;
      const { body } = await world.ask(query).expect(400);
      expect(body.errors).toContainEqual(expect.objectContaining({ in: 'query', name }));
    });

    it('asks the provider nothing', async () => {
      await get({ limit: '0' });
      await get({ chainId: '2' });
      expect(world.server.asked).toEqual([]);
    });
  });

  describe('501', () => {
    it('where the index that the network needs is not there yet, once the input is right', async () => {
      expect((await get({ chainId: '31337' }).expect(501)).body.code).toBe('not_implemented');
      expect((await get({ chainId: '31337', cursor: 'x' }).expect(400)).body.code).toBe('cursor_invalid');
    });
  });

  describe('502', () => {
    const lasting: Mishap[] = [
      400,
      401,
      404,
      429,
      500,
      'reset',
      'half',
      'truncated',
      'html',
      'redirect',
      'oversized',
    ];

    // A process of its own each time: after a 429 the one that got it is silent for a while.
    const askAnother = async (settings: Readonly<Record<string, string>> = {}) => {
      const twin = await world.service.twin({
        MORALIS_TIMEOUT_MS: '1000',
        MORALIS_DEADLINE_MS: '1000',
        ...settings,
      });
      return twin.as(twin.keys.acme).get(`${path}?address=${stranger}&chainId=1`);
    };

    it.each(lasting)('when the provider fails with %s, without a word of it', async (mishap) => {
      world.server.meet(mishap);
      const { status, body } = await askAnother();
      const { requestId: _, ...problem } = body;
      expect(status).toBe(502);
      expect(problem).toEqual({
        type: `/docs/problems/${failure.code}`,
        title: 'Bad Gateway',
        status: 502,
        ...failure,
      });
      expect(world.server.asked.length).toBeGreaterThanOrEqual(1);
    });

    it('when it does not answer in time', async () => {
      world.server.meet('hang');
      const { status, body } = await askAnother({ MORALIS_TIMEOUT_MS: '100', MORALIS_DEADLINE_MS: '300' });
      expect([status, body]).toEqual([502, expect.objectContaining(failure)]);
    });

    it('when it asks for more patience than we have', async () => {
      world.server.meet({ status: 429, retryAfter: '3600' });
      expect((await askAnother()).status).toBe(502);
      expect(world.server.asked).toHaveLength(1);
    });

    it('when there is no account to ask it with', async () => {
      expect((await askAnother({ MORALIS_API_KEY: '' })).body).toMatchObject(failure);
      expect(world.server.asked).toEqual([]);
    });

    it('when its answer does not fit the contract', async () => {
      world.server.meet({ body: { result: [{ hash: 'none', token_id: 'none' }], cursor: null } });
      expect((await get().expect(502)).body).toMatchObject(failure);
    });

    it('but not when a second try succeeds, and the cursor stays good', async () => {
      const cursor = await cursorOf({ address: busy, limit: '7' });
      world.server.meet(500, 'none');
      expect(pageOf((await get({ address: busy, cursor }).expect(200)).body).page).toBe(1);
      world.server.meet(400);
      await get({ address: busy, cursor }).expect(502);
      world.server.forget();
      await get({ address: busy, cursor }).expect(200);
    });
  });
}
