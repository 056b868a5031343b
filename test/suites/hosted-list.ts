import { Wallet } from 'ethers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type HostedListSetup, startHostedLists, stranger } from '../blockchain/wallet-lists.ts';
import type { ListOperation } from './wallet-list.ts';

type HostedList = ListOperation & {
  /** What a failing provider is answered with. */
  readonly failure: { readonly code: string; readonly detail: string };
};

/** What both lists of a wallet make of the hosted provider, above all when it fails. */
export function describeHostedList({ path, pageOf, failure }: HostedList): void {
  let setup: HostedListSetup;
  beforeAll(async () => {
    setup = await startHostedLists(path);
  });
  afterEach(() => setup.server.forget());
  afterAll(() => setup.close());

  const get: HostedListSetup['get'] = (changes) => setup.get(changes);
  const cursorOf = async (changes: Readonly<Record<string, string>>): Promise<string> => {
    const { cursor } = pageOf((await get(changes).expect(200)).body);
    if (cursor === undefined) throw new Error('there is no next page');
    return cursor;
  };

  describe('200: pages of the hosted provider', () => {
    test('are never kept: each is asked for anew', async () => {
      await get().expect(200).expect('cache-control', 'no-store');
      await get().expect(200);
      expect(setup.asked()).toHaveLength(2);
    });

    test('tell no block that they are complete to, as the hosted provider does not know it', async () => {
      const { headers } = await get().expect(200);
      expect(Object.keys(headers).filter((name) => name.startsWith('x-index'))).toEqual([]);
    });
  });

  describe('503', () => {
    test('while the network has no index yet, once the input is right', async () => {
      const { body, headers } = await get({ chainId: '31337' }).expect(503);
      expect(body.code).toBe('service_unavailable');
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect((await get({ chainId: '31337', cursor: 'x' }).expect(400)).body.code).toBe('cursor_invalid');
    });
  });

  describe('502', () => {
    // A process of its own each time: one that only fails is not asked for a while.
    const askAnother = async (settings = {}, fixed = {}, address = stranger) => {
      const soon = { providerTimeoutMs: 1_000, providerDeadlineMs: 1_000 };
      const twin = await setup.service.twin(settings, { ...soon, ...fixed });
      return twin.as(twin.keys.acme).get(`${path}?address=${address}&chainId=1`);
    };

    // In what ways a provider fails, the tests of its client say.
    test.each([401, 'reset'] as const)('when it fails with %s, without a word of it', async (mishap) => {
      setup.server.meet(mishap);
      const { status, headers, body } = await askAnother();
      const { requestId: _, ...problem } = body;
      expect(status).toBe(502);
      expect(problem).toEqual({
        type: `/docs/problems/${failure.code}`,
        title: 'Bad Gateway',
        status: 502,
        ...failure,
      });
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
      expect(setup.server.asked.length).toBeGreaterThanOrEqual(1);
    });

    test('when it does not answer in time', async () => {
      setup.server.meet('hang');
      const { status, body } = await askAnother({}, { providerTimeoutMs: 100, providerDeadlineMs: 300 });
      expect([status, body]).toEqual([502, expect.objectContaining(failure)]);
    });

    test('when there is no account to ask it with', async () => {
      // An address of its own: a late try of the test before may still arrive.
      const address = Wallet.createRandom().address.toLowerCase();
      expect((await askAnother({ MORALIS_API_KEY: '' }, {}, address)).body).toMatchObject(failure);
      expect(setup.server.asked.filter((request) => request.path.includes(address))).toEqual([]);
    });

    test('when its answer does not fit the contract', async () => {
      setup.server.meet({ body: { result: 'none', cursor: null } });
      expect((await get().expect(502)).body).toMatchObject(failure);
    });

    test('but not when a second try succeeds, and the cursor stays good', async () => {
      const cursor = await cursorOf({ address: setup.busy, limit: '7' });
      setup.server.meet(500, 'none');
      expect(pageOf((await get({ address: setup.busy, cursor }).expect(200)).body).page).toBe(1);
      setup.server.meet(400);
      await get({ address: setup.busy, cursor }).expect(502);
      setup.server.forget();
      await get({ address: setup.busy, cursor }).expect(200);
    });
  });
}
