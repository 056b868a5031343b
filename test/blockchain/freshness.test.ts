import { expect } from 'vitest';
import { createCursors } from '../../src/blockchain/cursor.ts';
import { createBlockchainHandlers } from '../../src/blockchain/handlers.ts';
import type { DataProvider, HistoryQuestion } from '../../src/providers/shared/provider.ts';
import { testWith } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';

const completeTo = {
  blockNumber: 2n ** 70n,
  blockHash: `0x${'ab'.repeat(32)}`,
  blockTime: new Date('2027-01-02T03:04:05Z'),
};
const asked: HistoryQuestion[] = [];
/** Knows how far it is, and always has a page more. */
const provider: DataProvider = {
  filters: { history: [], nfts: [] },
  async history(question) {
    asked.push(question);
    return { records: [], next: `after ${asked.length}`, completeTo };
  },
  async nfts(question) {
    asked.push(question);
    return { entries: [], next: undefined, completeTo };
  },
  tokens: async () => ({ entries: [], next: undefined, completeTo }),
  seen: async () => new Map(),
};

const cursors = createCursors(new Map([['only', Buffer.alloc(32, 9)]]));

const test = testWith({
  replace: (parts) => ({
    handlers: {
      ...parts.handlers,
      blockchain: {
        ...createBlockchainHandlers({
          ...parts,
          cursors,
          providers: { indexer: provider, moralis: provider },
        }),
        getBlockchainKey: () => Promise.reject(new Error('not asked here')),
      },
    },
  }),
});

const get = (service: TestService, path: string) =>
  service.as(service.keys.noCompany).get(`/blockchain/v1/api/${path}`);
const query = `address=0x${'AB'.repeat(20)}&chainId=31337`;

test.for(['wallet/history', 'nft'])(
  '/%s tells up to which block the answer is complete',
  async (path, { service }) => {
    const { headers } = await get(service, `${path}?${query}`).expect(200);
    expect(headers).toMatchObject({
      'x-index-block-number': '1180591620717411303424',
      'x-index-block-hash': completeTo.blockHash,
      'x-index-block-time': '2027-01-02T03:04:05.000Z',
    });
  },
);

test('a provider gets its own position back, and pages are counted', async ({ service }) => {
  asked.length = 0;
  const first = await get(service, `wallet/history?${query}&order=ASC&limit=9`).expect(200);
  const second = await get(service, `wallet/history?${query}&cursor=${first.body.history.cursor}`).expect(
    200,
  );
  const third = await get(service, `wallet/history?${query}&cursor=${second.body.history.cursor}`).expect(
    200,
  );
  const common = { address: `0x${'ab'.repeat(20)}`, order: 'ASC', limit: 9 };
  expect(asked).toMatchObject([
    { ...common, position: undefined },
    { ...common, position: 'after 1' },
    { ...common, position: 'after 2' },
  ]);
  expect([first, second, third].map(({ body }) => body.history.page)).toEqual([0, 1, 2]);
});
