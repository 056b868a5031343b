import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ProblemError } from '../../../src/base/errors.ts';
import { createOutgoing } from '../../../src/outgoing/outgoing.ts';
import { createMoralisClient } from '../../../src/providers/moralis/client.ts';
import { createMoralisProvider } from '../../../src/providers/moralis/moralis-provider.ts';
import type { DataProvider, HistoryQuestion } from '../../../src/providers/shared/provider.ts';
import { contractSchema } from '../../support/contract-schema.ts';
import {
  friend,
  nativeTransfer,
  nft,
  nftTransfer,
  type Payload,
  token,
  tokenTransfer,
  transaction,
  wallet,
} from '../../support/moralis-payloads.ts';
import { type MoralisServer, startMoralisServer } from '../../support/moralis-server.ts';
import { testNetwork } from '../../support/networks.ts';

let server: MoralisServer;
let provider: DataProvider;
let repaired: string[] = [];
beforeAll(async () => {
  server = await startMoralisServer({ histories: {}, nfts: {} });
  const { baseUrl, apiKey } = server;
  const client = createMoralisClient({
    baseUrl,
    apiKey,
    timeoutMs: 5_000,
    deadlineMs: 5_000,
    concurrency: 4,
    outgoing: createOutgoing(),
  });
  provider = createMoralisProvider({ client, onRepair: (field) => repaired.push(field) });
});
afterEach(() => {
  server.forget();
  repaired = [];
});
afterAll(() => server.close());

const question: HistoryQuestion = {
  network: testNetwork([], { dataProvider: 'moralis' }),
  address: wallet,
  order: 'DESC',
  limit: 2,
  position: undefined,
};
const askHistory = (body: unknown, changes: Partial<HistoryQuestion> = {}) => {
  server.meet({ body });
  return provider.history({ ...question, ...changes });
};
const askNfts = (body: unknown) => {
  server.meet({ body });
  return provider.nfts(question);
};
const faultOf = async (asking: Promise<unknown>) => {
  const error: unknown = await asking.catch((thrown: unknown) => thrown);
  if (!(error instanceof ProblemError)) throw new Error('no problem was thrown');
  return [error.code, error.cause instanceof Error ? error.cause.message : undefined];
};
const without = (payload: Payload, ...names: string[]): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !names.includes(name)));
const [recordFaults, nftFaults] = [contractSchema('WalletHistoryRecord'), contractSchema('WalletNft')];
const recordOf = async (payload: Payload) => {
  const { records } = await askHistory({ result: [payload] });
  expect(records.flatMap(recordFaults)).toEqual([]);
  return records[0];
};
const entryOf = async (payload: Payload) => {
  const { entries } = await askNfts({ result: [payload] });
  expect(entries.flatMap(nftFaults)).toEqual([]);
  return entries[0];
};

describe('a history record', () => {
  test('is as the upstream sent it, without what the contract does not have', async () => {
    const raw = transaction(1, {
      from_address_label: 'Alice',
      from_address_entity: 'A & Co',
      input: '0x',
      logs: [],
      contract_interactions: {},
      internal_transactions: [],
      synced_at: 5,
      something_new: { deep: [1] },
    });
    const record = await recordOf(raw);
    const dropped = ['receipt_cumulative_gas_used', 'receipt_contract_address'];
    const { native_transfers, erc20_transfers, nft_transfers, ...fields } = without(
      transaction(1),
      ...dropped,
    );
    expect(record).toEqual({ native_transfers, erc20_transfers, nft_transfers, ...fields });
  });

  test('needs none of what the upstream may leave out', async () => {
    const optional = [
      'gas',
      'receipt_gas_used',
      'transaction_fee',
      'method_label',
      'possible_spam',
      'to_address',
      'nft_transfers',
      'erc20_transfers',
      'native_transfers',
    ];
    const lean = await recordOf(without(transaction(1), ...optional));
    expect(lean).toMatchObject({ gas: null, to_address: null, native_transfers: [], nft_transfers: [] });
    const nulls = await recordOf({
      ...transaction(1),
      ...Object.fromEntries(optional.map((name) => [name, null])),
    });
    expect(nulls).toMatchObject({ gas: null, to_address: null, native_transfers: [], erc20_transfers: [] });
  });

  test('has addresses and hashes in lower case and times in UTC', async () => {
    const record = await recordOf(
      transaction(10, {
        from_address: wallet.toUpperCase().replace('0X', '0x'),
        block_timestamp: '2027-01-01T02:00:00+02:00',
        hash: `0x${'AB'.repeat(32)}`,
      }),
    );
    expect(record).toMatchObject({
      from_address: wallet,
      block_timestamp: '2027-01-01T00:00:00.000Z',
      hash: `0x${'ab'.repeat(32)}`,
    });
  });
});

describe('a transfer', () => {
  test('of the native asset is completed from the network', async () => {
    const raw = without(
      nativeTransfer(),
      'value_formatted',
      'token_symbol',
      'token_logo',
      'internal_transaction',
    );
    const record = await recordOf(transaction(1, { native_transfers: [raw] }));
    expect(record?.native_transfers).toEqual([
      { ...nativeTransfer(), token_logo: null, internal_transaction: false },
    ]);
  });

  test('of a token takes the time of its transaction, and keeps what the address book says', async () => {
    const raw = tokenTransfer({ to_address_entity: 'Alice Ltd', token_decimals: 6, security_score: 99 });
    const record = await recordOf(transaction(1, { erc20_transfers: [raw] }));
    expect(record?.erc20_transfers).toEqual([
      {
        ...tokenTransfer({ to_address_entity: 'Alice Ltd' }),
        block_timestamp: transaction(1)['block_timestamp'],
        verification: 'unknown',
      },
    ]);
  });

  test('of a token that tells nothing of itself has nulls', async () => {
    const names = ['token_name', 'token_symbol', 'token_logo', 'token_decimals', 'value_formatted'];
    const raw = without(tokenTransfer(), ...names, 'possible_spam', 'verified_contract', 'to_address');
    const record = await recordOf(transaction(1, { erc20_transfers: [raw] }));
    expect(record?.erc20_transfers[0]).toMatchObject({
      ...Object.fromEntries(names.map((name) => [name, null])),
      to_address: null,
      possible_spam: false,
      verified_contract: false,
    });
  });

  test('of an NFT is completed from its transaction', async () => {
    const raw = without(nftTransfer(), 'value', 'amount', 'transaction_type', 'direction', 'possible_spam');
    const record = await recordOf(transaction(1, { value: '77', nft_transfers: [raw] }));
    expect(record?.nft_transfers[0]).toMatchObject({
      value: '77',
      amount: '1',
      transaction_type: 'Single',
      direction: 'receive',
      possible_spam: false,
    });
    expect(record?.nft_transfers[0]).not.toHaveProperty('operator');
  });

  test.each([
    [wallet, friend, 'receive', 'send'],
    [friend, wallet, 'send', 'receive'],
    [wallet, wallet, 'receive', 'send'],
    [wallet, wallet, 'self', 'send'],
    [friend, token, 'receive', 'receive'],
    [friend, token, undefined, 'send'],
    [friend, null, 'sideways', 'send'],
  ])('from %s to %s that the upstream calls %s is a %s', async (from, to, direction, expected) => {
    const raw = tokenTransfer({ from_address: from, to_address: to, direction });
    const record = await recordOf(transaction(1, { erc20_transfers: [raw] }));
    expect(record?.erc20_transfers[0]?.direction).toBe(expected);
  });
});

describe('an NFT', () => {
  test('is as the upstream sent it, without what the contract does not have', async () => {
    const { media: _, ...known } = nft(1, { rarity_rank: 3, floor_price: '0.1' });
    expect(await entryOf({ ...known, media: {}, last_sale: {}, something_new: 1 })).toEqual(known);
  });

  test('needs none of what the upstream may leave out', async () => {
    const needed = ['token_address', 'token_id', 'owner_of', 'block_number'];
    const lean = Object.fromEntries(Object.entries(nft(1)).filter(([name]) => needed.includes(name)));
    expect(await entryOf(lean)).toEqual({
      ...lean,
      contract_type: 'ERC721',
      amount: '1',
      block_number_minted: null,
      token_hash: null,
      name: null,
      symbol: null,
      token_uri: null,
      metadata: null,
      last_token_uri_sync: null,
      last_metadata_sync: null,
      possible_spam: false,
    });
  });

  test('survives metadata of any shape', async () => {
    const entry = await entryOf(
      nft(1, {
        normalized_metadata: {
          name: 5,
          image: ['x'],
          attributes: [{ trait_type: 1, value: { deep: true }, max_value: 'many' }],
        },
        rarity_rank: 'first',
        last_metadata_sync: 'yesterday',
      }),
    );
    expect(entry).toMatchObject({
      normalized_metadata: {
        name: null,
        image: null,
        attributes: [{ trait_type: null, value: { deep: true }, max_value: null }],
      },
      rarity_rank: null,
      last_metadata_sync: null,
    });
    for (const normalized of ['text', [], 7, null, { attributes: 'none' }, { attributes: [null] }]) {
      await entryOf(nft(1, { normalized_metadata: normalized }));
    }
  });
});

describe('a field that does not fit', () => {
  test.each<[string, Payload, object, string[]]>([
    ['no price', { gas_price: null }, { gas_price: null }, []],
    ['an empty price', { gas_price: '' }, { gas_price: null }, []],
    ['a price in words', { gas_price: 'much' }, { gas_price: null }, ['gas_price']],
    ['a price as a number', { gas_price: 7 }, { gas_price: '7' }, []],
    ['an empty status', { receipt_status: '' }, { receipt_status: null }, ['receipt_status']],
    ['no status', { receipt_status: null }, { receipt_status: null }, []],
    ['a status as a number', { receipt_status: 1 }, { receipt_status: '1' }, []],
    ['a new category', { category: 'gift' }, { category: 'contract interaction' }, ['category']],
    ['no category', { category: null }, { category: 'contract interaction' }, ['category']],
    ['spam as text', { possible_spam: 'true' }, { possible_spam: true }, []],
    ['spam in words', { possible_spam: 'maybe' }, {}, ['possible_spam']],
    ['gas as nonsense', { gas: {} }, { gas: null }, ['gas']],
  ])('of a record is replaced: %s', async (_name, change, expected, fields) => {
    expect(await recordOf(transaction(1, change))).toMatchObject(expected);
    expect(repaired).toEqual(fields);
  });

  test.each([[''], [null]])('leaves out the gas that was used: %j', async (receipt_gas_used) => {
    expect(await recordOf(transaction(1, { receipt_gas_used }))).not.toHaveProperty('receipt_gas_used');
  });

  test.each([[null], [''], [undefined], [5]])('has a summary of our own instead of %j', async (summary) => {
    const none = { native_transfers: [], erc20_transfers: [], nft_transfers: [] };
    const sent = nativeTransfer({ from_address: wallet, to_address: friend });
    const summaries = [
      await recordOf(transaction(1, { ...none, summary, native_transfers: [sent] })),
      await recordOf(transaction(1, { ...none, summary, erc20_transfers: [tokenTransfer()] })),
      await recordOf(transaction(1, { ...none, summary, from_address: wallet })),
    ].map((record) => record?.summary);
    expect(summaries).toEqual([
      expect.stringMatching(/^Sent [\d.]+ ETH$/),
      expect.stringMatching(/^(Sent|Received) [\d.]+ \w+$/),
      'Signed a transaction',
    ]);
    expect(repaired).toEqual(['summary', 'summary', 'summary']);
  });

  test.each<[string, Payload, string]>([
    ['native_transfers', nativeTransfer({ from_address: null }), 'native_transfers.from_address'],
    ['native_transfers', without(nativeTransfer(), 'from_address'), 'native_transfers.from_address'],
    ['erc20_transfers', tokenTransfer({ from_address: '' }), 'erc20_transfers.from_address'],
    ['erc20_transfers', tokenTransfer({ to_address: 'nobody' }), 'erc20_transfers.to_address'],
    ['erc20_transfers', tokenTransfer({ value: null }), 'erc20_transfers.value'],
    ['nft_transfers', nftTransfer({ from_address: null }), 'nft_transfers.from_address'],
  ])('of %s leaves out that transfer and no other', async (list, transfer, field) => {
    const whole = {
      native_transfers: nativeTransfer(),
      erc20_transfers: tokenTransfer(),
      nft_transfers: nftTransfer(),
    };
    const kept = Object.entries(whole).find(([name]) => name === list)?.[1];
    const record = await recordOf(transaction(1, { [list]: [transfer, kept] }));
    expect(Reflect.get(record ?? {}, list)).toHaveLength(1);
    expect(repaired).toEqual([field]);
  });

  test('of a transfer is replaced', async () => {
    const odd = {
      log_index: '7',
      token_decimals: '',
      possible_spam: 'false',
      block_timestamp: 'now',
      token_name: 5,
    };
    const record = await recordOf(transaction(1, { erc20_transfers: [tokenTransfer(odd)] }));
    expect(record?.erc20_transfers[0]).toMatchObject({
      log_index: 7,
      token_decimals: null,
      possible_spam: false,
      token_name: null,
      block_timestamp: transaction(1)['block_timestamp'],
    });
    expect(repaired).toEqual(['block_timestamp']);
    const ofNft = await recordOf(
      transaction(1, { nft_transfers: [nftTransfer({ contract_type: 'ERC404', log_index: '7' })] }),
    );
    expect(ofNft?.nft_transfers[0]).toMatchObject({ contract_type: null, log_index: 7 });
  });

  test('of an NFT is replaced', async () => {
    const odd = {
      contract_type: 'ERC404',
      metadata: { name: 'Odd' },
      possible_spam: 'true',
      block_number_minted: '',
      name: 5,
    };
    expect(await entryOf(nft(1, odd))).toMatchObject({
      contract_type: null,
      metadata: '{"name":"Odd"}',
      possible_spam: true,
      block_number_minted: null,
      name: null,
    });
    expect(repaired).toEqual(['contract_type']);
  });
});

describe('an answer that does not fit', () => {
  test.each<[string, unknown, string]>([
    ['no object', [], 'the answer: '],
    ['null', null, 'the answer: '],
    ['no result', { cursor: null }, 'result: '],
    ['more records than asked for', { result: [1, 2, 3].map((n) => transaction(n)) }, 'result: '],
    ['a cursor with spaces', { cursor: 'a b', result: [] }, 'cursor: '],
    ['a cursor too long for ours', { cursor: 'x'.repeat(3_001), result: [] }, 'cursor: '],
  ])('is never passed on: %s', async (_name, body, place) => {
    const [code, cause] = await faultOf(askHistory(body));
    expect(code).toBe('history_unavailable');
    expect(cause).toContain(`the answer does not fit: ${place}`);
  });

  test('names the problem of the operation', async () => {
    const [code, cause] = await faultOf(askNfts({ result: 'x-ray' }));
    expect(code).toBe('nfts_unavailable');
    expect(cause).toContain('result: ');
    expect(cause).not.toContain('x-ray');
  });

  test.each<[string, object, string]>([
    ['without a hash', without(transaction(1), 'hash'), 'hash'],
    ['with a hash that is none', transaction(1, { hash: '0x1' }), 'hash'],
    ['without a sender', transaction(1, { from_address: null }), 'from_address'],
    ['without a block', transaction(1, { block_number: null }), 'block_number'],
    ['without an amount', transaction(1, { value: null }), 'value'],
    ['at no time', transaction(1, { block_timestamp: 'now' }), 'block_timestamp'],
  ])('leaves out a record %s, counts it, and keeps the pages behind it', async (_name, record, field) => {
    const page = await askHistory({ cursor: 'older', result: [record, transaction(2)] });
    expect(page.records).toHaveLength(1);
    expect(page).toMatchObject({ leftOut: 1, next: 'older' });
    expect(repaired).toEqual([`result.${field}`]);
  });

  test('leaves out an NFT without an id', async () => {
    const page = await askNfts({ result: [nft(1, { token_id: 'x-ray' }), nft(2)] });
    expect([page.entries.length, page.leftOut]).toEqual([1, 1]);
  });

  test('makes unknown what nobody needs to tell records apart', async () => {
    const odd = transaction(1, { nonce: 'x', transaction_index: undefined });
    expect((await askHistory({ result: [odd] })).records).toMatchObject([
      { nonce: null, transaction_index: null },
    ]);
    expect((await askNfts({ result: [nft(1, { block_number: null })] })).entries).toMatchObject([
      { block_number: null },
    ]);
  });

  test('is one whose cursor leads nowhere', async () => {
    const [code, cause] = await faultOf(askHistory({ cursor: 'same', result: [] }, { position: 'same' }));
    expect([code, cause]).toEqual([
      'history_unavailable',
      'the cursor of the next page is that of this page',
    ]);
  });
});

describe('the end of a list', () => {
  test.each([{ cursor: null }, { cursor: '' }, {}])('is %j', async (envelope) => {
    expect((await askHistory({ ...envelope, result: [] })).next).toBeUndefined();
  });
});

describe('the question', () => {
  test('is put in the words of the upstream, the limit with the first page only', async () => {
    await askHistory({ result: [] }, { order: 'ASC' });
    await askHistory({ result: [] }, { position: 'abc' });
    await askNfts({ result: [] });
    expect(server.asked.map(({ path, query }) => [path, query])).toEqual([
      [`/api/v2.2/wallets/${wallet}/history`, { chain: '0x7a69', order: 'ASC', limit: '2' }],
      [`/api/v2.2/wallets/${wallet}/history`, { chain: '0x7a69', order: 'DESC', cursor: 'abc' }],
      [
        `/api/v2.2/${wallet}/nft`,
        { chain: '0x7a69', format: 'decimal', normalizeMetadata: 'true', limit: '2' },
      ],
    ]);
  });
});

describe('a page of NFTs that is too large', () => {
  test('is cut to what a page of an index may have, and goes on behind all of its tokens', async () => {
    const large = 'x'.repeat(66_000);
    const result = Array.from({ length: 50 }, (_, index) => ({
      ...nft(index),
      token_id: String(index),
      token_uri: `data:application/json,${large}`,
      name: large,
      metadata: JSON.stringify({ name: `token ${index}`, description: 'y'.repeat(25_000), image: large }),
      normalized_metadata: { name: `token ${index}`, description: 'y'.repeat(25_000), image: large },
    }));
    server.meet({ body: { result, cursor: 'further' } });
    const { entries, next } = await provider.nfts({ ...question, limit: 100 });
    expect([entries.length, next]).toEqual([50, 'further']);
    expect(Buffer.byteLength(JSON.stringify(entries))).toBeLessThan(2.2 * 1024 * 1024);
    const [first, last] = [entries[0], entries[49]];
    expect(first?.token_uri).toMatch(/^data:.{123}…$/);
    expect(first?.name).toHaveLength(129);
    // The uniform shape goes by what is kept of the metadata.
    expect(first?.normalized_metadata).toMatchObject({ name: 'token 0' });
    expect(JSON.stringify(first?.normalized_metadata)).not.toContain('xxx');
    expect(last).toMatchObject({ token_id: '49', metadata: '{"_truncated":["*"]}' });
    expect(last).not.toHaveProperty('normalized_metadata');
  });
});
