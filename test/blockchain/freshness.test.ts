import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCursors } from '../../src/blockchain/cursor.ts';
import { createBlockchainHandlers } from '../../src/blockchain/handlers.ts';
import type { DataProvider, HistoryQuestion } from '../../src/providers/provider.ts';
import { startService, type TestService } from '../support/service.ts';

const completeTo = {
  blockNumber: 2n ** 70n,
  blockHash: `0x${'ab'.repeat(32)}`,
  blockTime: new Date('2027-01-02T03:04:05Z'),
};
const asked: HistoryQuestion[] = [];
/** Knows how far it is, and always has a page more. */
const provider: DataProvider = {
  async history(question) {
    asked.push(question);
    return { records: [], next: `after ${question.page}`, completeTo };
  },
  async nfts(question) {
    asked.push(question);
    return { entries: [], next: undefined, completeTo };
  },
};

let service: TestService;
beforeAll(async () => {
  const cursors = createCursors(new Map([['only', Buffer.alloc(32, 9)]]));
  service = await startService({
    replace: (parts) => ({
      handlers: {
        ...parts.handlers,
        blockchain: createBlockchainHandlers({
          ...parts,
          cursors,
          providers: { indexer: provider, moralis: provider },
        }),
      },
    }),
  });
});
afterAll(() => service.close());

const get = (path: string) => service.as(service.keys.noCompany).get(`/blockchain/v1/api/${path}`);
const query = `address=0x${'AB'.repeat(20)}&chainId=31337`;

test.each(['wallet/history', 'nft'])('/%s tells up to which block the answer is complete', async (path) => {
  const { headers } = await get(`${path}?${query}`).expect(200);
  expect(headers).toMatchObject({
    'x-index-block-number': '1180591620717411303424',
    'x-index-block-hash': completeTo.blockHash,
    'x-index-block-time': '2027-01-02T03:04:05.000Z',
  });
});

test('a provider gets its own position back, with the page that it belongs to', async () => {
  asked.length = 0;
  const first = await get(`wallet/history?${query}&order=ASC&limit=9`).expect(200);
  const second = await get(`wallet/history?${query}&cursor=${first.body.history.cursor}`).expect(200);
  await get(`wallet/history?${query}&cursor=${second.body.history.cursor}`).expect(200);
  const common = { address: `0x${'ab'.repeat(20)}`, order: 'ASC', limit: 9 };
  expect(asked).toMatchObject([
    { ...common, page: 0, position: undefined },
    { ...common, page: 1, position: 'after 0' },
    { ...common, page: 2, position: 'after 1' },
  ]);
});
