import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { walk } from '../support/walk.ts';
import { startIndexedLists } from './indexed-wallet-lists.ts';
import { type HostedListSetup, type ListSetup, startHostedLists } from './wallet-lists.ts';

const history = '/blockchain/v1/api/wallet/history';
const nfts = '/blockchain/v1/api/nft';
const address = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720';

let indexed: ListSetup;
let hosted: HostedListSetup;
beforeAll(async () => {
  indexed = await startIndexedLists(history);
  hosted = await startHostedLists(history);
});
afterAll(async () => {
  await indexed.close();
  await hosted.close();
});

type Query = Readonly<Record<string, string>>;
const ofBusy = (changes: Query) => indexed.get({ address: indexed.busy, ...changes });
const nftsOf = (setup: ListSetup, changes: Query = {}) => {
  const query = new URLSearchParams({ address: setup.busy, chainId: setup.chainId, ...changes });
  return setup.service.as(setup.service.keys.acme).get(`${nfts}?${query}`);
};
const numbersOf = (body: { history: { result: { block_number: string }[] } }) =>
  body.history.result.map(({ block_number }) => Number(block_number));

describe('200: a search of a history', () => {
  test('has the blocks of its range, both ends included', async () => {
    const { body } = await ofBusy({ fromBlock: '10', toBlock: '014', order: 'ASC' }).expect(200);
    expect(numbersOf(body)).toEqual([10, 11, 12, 13, 14]);
  });

  test('has the blocks of its times, both ends included', async () => {
    const [first, , third] = (await ofBusy({ fromBlock: '20', order: 'ASC' }).expect(200)).body.history
      .result;
    const { body } = await ofBusy({ fromDate: first.block_timestamp, toDate: third.block_timestamp });
    const times: string[] = body.history.result.map((each: typeof first) => each.block_timestamp);
    expect(times.length).toBeGreaterThanOrEqual(3);
    expect(times.every((time) => time >= first.block_timestamp && time <= third.block_timestamp)).toBe(true);
    expect((await ofBusy({ toDate: '2001-01-01' }).expect(200)).body.history.result).toEqual([]);
    expect((await ofBusy({ fromDate: '2900-01-01T00:00:00+01:00' })).body.history.result).toEqual([]);
  });

  test('takes several categories and tokens, empty parameters as absent, and everything at once', async () => {
    const [{ nft_transfers: moved }] = (await ofBusy({ limit: '1' }).expect(200)).body.history.result;
    const token: string = moved[0].token_address;
    const count = async (query: Query) => (await ofBusy(query).expect(200)).body.history.page_size;
    expect(await count({ category: 'mint,burn' })).toBe(100);
    expect(await count({ category: 'burn,borrow' })).toBe(0);
    expect(await count({ token: `${address},${token.toUpperCase().replace('0X', '0x')}` })).toBe(100);
    expect(await count({ token: address })).toBe(0);
    expect(await count({ category: '', token: '', counterparty: '', includeSpam: '' })).toBe(100);
    const zero = `0x${'0'.repeat(40)}`;
    const all = { token, counterparty: zero, category: 'mint', direction: 'receive', includeSpam: 'false' };
    expect(await count({ ...all, fromBlock: '5', toBlock: '9' })).toBe(5);
    expect(await count({ ...all, direction: 'send' })).toBe(0);
  });

  test('goes on with its cursor, beside which it may be left out or sent again', async () => {
    const search = { category: 'mint', fromBlock: '3', direction: 'receive', limit: '50' };
    const { cursor } = (await ofBusy(search).expect(200)).body.history;
    const alone = (await ofBusy({ cursor }).expect(200)).body.history;
    const repeated = (await ofBusy({ ...search, cursor, fromBlock: '03' }).expect(200)).body.history;
    expect(alone.page_size).toBe(50);
    expect(repeated).toEqual(alone);
  });
});

describe('200: a history with entries', () => {
  test('of transactions is the history, and with credits has what there is of both', async () => {
    const { body: plain } = await ofBusy({ limit: '3' }).expect(200);
    expect((await ofBusy({ limit: '3', entries: 'transactions' }).expect(200)).body).toEqual(plain);
    const both = (await ofBusy({ limit: '3', entries: 'rewards,transactions' }).expect(200)).body.history;
    expect(both).toMatchObject({ result: plain.history.result, credits: [] });
    const { cursor } = both;
    expect((await ofBusy({ cursor }).expect(200)).body.history.credits).toEqual([]);
    const alone = (await ofBusy({ entries: 'withdrawals' }).expect(200)).body.history;
    expect(alone).toMatchObject({ page_size: 0, result: [], credits: [] });
  });
});

describe('200: an answer from the index', () => {
  test('says in body and headers what it covers', async () => {
    const { body, headers } = await ofBusy({ limit: '1' }).expect(200);
    const expected = { from_block: '0', traces: 'none', skipped_blocks: [], outside_transactions: [] };
    const ledger = { rewards: 'every', ledger_from_block: '0' };
    expect(body.history.coverage).toEqual({
      ...expected,
      ...ledger,
      to_block: headers['x-index-block-number'],
    });
    const list = await nftsOf(indexed).expect(200);
    expect(list.body.coverage).toEqual({ ...body.history.coverage, nft_amounts: 'whole' });
    // The newest entry is of the newest block.
    const [newest] = body.history.result;
    for (const told of [headers, list.headers]) {
      expect(told).toMatchObject({
        'x-index-from-block': '0',
        'x-index-block-number': newest.block_number,
        'x-index-block-hash': newest.block_hash,
        'x-index-block-time': newest.block_timestamp,
        'x-index-traces': 'none',
        'x-index-skipped-blocks': '0',
      });
    }
  });
});

describe('400: a search of a history', () => {
  test.each([
    [{ fromBlock: '0x10' }, 'fromBlock must be a block number'],
    [{ fromBlock: '9', toBlock: '8' }, 'toBlock must not be below fromBlock'],
    [{ fromBlock: '9', fromDate: '2027-01-01' }, 'fromDate must not be sent together with fromBlock'],
    [{ toBlock: '9', toDate: '2027-01-01' }, 'toDate must not be sent together with toBlock'],
    [{ fromDate: '2027-01-02', toDate: '2027-01-01' }, 'toDate must not be before fromDate'],
    [
      { toDate: '2027-02-29' },
      'toDate must be an RFC 3339 date or date-time that the calendar has, such as 2027-05-04T09:00:00Z',
    ],
    [{ category: 'mint,theft' }, /^category must be one of send, receive, /],
    [{ direction: 'both' }, 'direction must be one of send, receive'],
    [{ token: `${address},0x12` }, 'token must be 0x and 40 hex digits'],
    [{ token: Array(11).fill(address).join() }, 'token must be an array of at most 10 items'],
    [{ token: '0xA0ee7a142d267c1f36714e4a8f75612f20a79720' }, 'token has a wrong EIP-55 checksum'],
    [{ counterparty: 'me' }, 'counterparty must be 0x and 40 hex digits'],
    [{ includeSpam: 'no' }, 'includeSpam must be true or false'],
    [{ entries: 'uncles' }, 'entries must be one of transactions, withdrawals, rewards'],
  ])('%j is refused, naming what is wrong', async (query, detail) => {
    const { body } = await ofBusy(query).expect(400);
    expect(body.code).toBe('input_invalid');
    if (typeof detail === 'string') expect(body.detail).toBe(detail);
    else expect(body.detail).toMatch(detail);
  });

  test.each([
    { category: 'burn' },
    { fromBlock: '4' },
    { toBlock: '90' },
    { includeSpam: 'true' },
    { token: address },
    { entries: 'rewards' },
  ])('that contradicts its cursor is refused: %j', async (query) => {
    const search = { category: 'mint', fromBlock: '3', includeSpam: 'false', limit: '50' };
    const { cursor } = (await ofBusy(search).expect(200)).body.history;
    expect((await ofBusy({ cursor, ...query }).expect(400)).body.code).toBe('cursor_invalid');
  });
});

describe('over the hosted provider', () => {
  test('200: a range is asked of it, with every page', async () => {
    hosted.forget();
    const range = { address: hosted.busy, fromBlock: '7', toDate: '2027-01-01T00:00:00.900Z', limit: '50' };
    const { cursor } = (await hosted.get(range).expect(200)).body.history;
    await hosted.get({ address: hosted.busy, cursor }).expect(200);
    const asked = hosted.server.asked.map(({ query }) => query);
    expect(asked).toEqual([
      { chain: '0x1', order: 'DESC', limit: '50', from_block: '7', to_date: '1798761600' },
      { chain: '0x1', order: 'DESC', cursor: expect.any(String), from_block: '7', to_date: '1798761600' },
    ]);
  });

  test.each([
    ['category', 'mint'],
    ['direction', 'send'],
    ['token', address],
    ['counterparty', address],
    ['includeSpam', 'false'],
    ['entries', 'transactions,rewards'],
  ])('400: %s is refused by name, and nothing is asked', async (parameter, value) => {
    hosted.forget();
    const message = `The data provider moralis of this network cannot filter by ${parameter}`;
    const { body } = await hosted.get({ [parameter]: value, fromBlock: '1' }).expect(400);
    expect(body).toMatchObject({
      code: 'filter_unsupported',
      detail: message,
      errors: [{ in: 'query', name: parameter, message }],
    });
    expect(hosted.asked()).toEqual([]);
  });

  test('200: includeSpam=true asks for what it lists anyway', async () => {
    await hosted.get({ includeSpam: 'true' }).expect(200);
  });

  test('200: an NFT list is narrowed by contracts and spam', async () => {
    hosted.forget();
    await nftsOf(hosted, { contract: address, includeSpam: 'false' }).expect(200);
    expect(hosted.server.asked[0]?.query).toMatchObject({
      'token_addresses[0]': address,
      exclude_spam: 'true',
    });
  });
});

describe('200: an NFT list of contracts', () => {
  const whole = async (query: Query): Promise<{ token_address: string }[]> => {
    const pages = await walk(async (cursor) => {
      const { body } = await nftsOf(indexed, cursor === undefined ? query : { cursor }).expect(200);
      return { next: body.cursor, result: body.result };
    });
    return pages.flatMap(({ result }) => result);
  };

  test('has their tokens, in order and page by page, and no others', async () => {
    const all = await whole({ order: 'ASC' });
    const contract = `${address},${all[0]?.token_address}`;
    expect(all).toHaveLength(120);
    expect(await whole({ order: 'ASC', contract, limit: '7' })).toEqual(all);
    expect((await nftsOf(indexed, { contract: address }).expect(200)).body.result).toEqual([]);
    const { cursor } = (await nftsOf(indexed, { contract, limit: '7' }).expect(200)).body;
    const { body } = await nftsOf(indexed, { contract: address, cursor }).expect(400);
    expect(body.code).toBe('cursor_invalid');
  });
});
