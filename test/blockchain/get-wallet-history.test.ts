import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeHostedList } from '../suites/hosted-list.ts';
import { describeWalletList, type ListOperation } from '../suites/wallet-list.ts';
import { history } from '../support/moralis-payloads.ts';
import { startIndexedLists } from './indexed-wallet-lists.ts';
import { type HostedListSetup, startHostedLists } from './wallet-lists.ts';

const path = '/blockchain/v1/api/wallet/history';

const operation: ListOperation = { path, pageOf: (body) => body.history };

describe('over the hosted provider', () => {
  describeWalletList(operation, startHostedLists);
  describeHostedList({
    ...operation,
    failure: { code: 'history_unavailable', detail: 'Failed to fetch wallet history.' },
  });
});
describe('over the index', () => describeWalletList(operation, startIndexedLists));

describe('200: the history', () => {
  let setup: HostedListSetup;
  beforeAll(async () => {
    setup = await startHostedLists(path);
  });
  afterAll(() => setup.close());

  const hashes = history.map((record) => record['hash']);
  const hashesOf = (body: { history: { result: { hash: string }[] } }) =>
    body.history.result.map(({ hash }) => hash);

  test('is newest first unless asked otherwise', async () => {
    expect(hashesOf((await setup.get().expect(200)).body)).toEqual(hashes.toReversed());
    expect(hashesOf((await setup.get({ order: 'DESC' }).expect(200)).body)).toEqual(hashes.toReversed());
    expect(hashesOf((await setup.get({ order: 'ASC' }).expect(200)).body)).toEqual(hashes);
  });

  test('stands alone in an envelope that tells the limit as a text', async () => {
    const { body } = await setup.get({ limit: '3' }).expect(200);
    expect(Object.keys(body)).toEqual(['history']);
    const { cursor, result, ...counts } = body.history;
    expect(counts).toEqual({ page: 0, page_size: 3, limit: '3' });
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(result).toHaveLength(3);
  });

  test('has a hundred records on a page unless asked otherwise, and remembers what was asked', async () => {
    const { body } = await setup.get({ address: setup.busy }).expect(200);
    expect(body.history).toMatchObject({ page: 0, page_size: 100, limit: '100' });
    const next = await setup.get({ address: setup.busy, cursor: body.history.cursor }).expect(200);
    expect(next.body.history).toMatchObject({ page: 1, page_size: 20, limit: '100' });
  });

  test('has three lists of transfers in every record, and null where a contract was created', async () => {
    const { body } = await setup.get({ order: 'ASC' }).expect(200);
    const [received, created, , , minted] = body.history.result;
    expect(received).toMatchObject({
      native_transfers: [{ direction: 'receive' }],
      erc20_transfers: [],
      nft_transfers: [],
    });
    expect(created.to_address).toBeNull();
    expect(minted.nft_transfers).toHaveLength(2);
  });
});
