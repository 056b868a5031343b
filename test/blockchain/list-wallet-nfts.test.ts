import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeHostedList } from '../suites/hosted-list.ts';
import { describeWalletList, type ListOperation } from '../suites/wallet-list.ts';
import { nfts } from '../support/moralis-payloads.ts';
import { startIndexedLists } from './indexed-wallet-lists.ts';
import { type HostedListSetup, startHostedLists } from './wallet-lists.ts';

const path = '/blockchain/v1/api/nft';

const operation: ListOperation = { path, pageOf: (body) => body };

describe('over the hosted provider', () => {
  describeWalletList(operation, startHostedLists);
  describeHostedList({
    ...operation,
    failure: { code: 'nfts_unavailable', detail: 'Failed to fetch NFTs.' },
  });
});
describe('over the index', () => describeWalletList(operation, startIndexedLists));

describe('200: the NFT list', () => {
  let setup: HostedListSetup;
  beforeAll(async () => {
    setup = await startHostedLists(path);
  });
  afterAll(() => setup.close());

  const idsOf = (body: { result: { token_id: string }[] }) => body.result.map(({ token_id: id }) => id);

  test('is that of the provider without its status', async () => {
    const { body } = await setup.get().expect(200);
    expect(Object.keys(body)).toEqual(['page', 'page_size', 'result']);
    expect(body).toMatchObject({ page: 0, page_size: nfts.length });
    expect(body.result[0]).toMatchObject({ token_id: '41', normalized_metadata: { name: 'Cask 41' } });
    expect(body.result[0]).not.toHaveProperty('media');
  });

  test('stays in the order of the provider, whatever order was asked for', async () => {
    const ids = nfts.map((entry) => entry['token_id']);
    expect(idsOf((await setup.get({ order: 'ASC' }).expect(200)).body)).toEqual(ids);
    expect(idsOf((await setup.get({ order: 'DESC' }).expect(200)).body)).toEqual(ids);
  });

  test('keeps token ids beyond what a JSON number holds', async () => {
    const { body } = await setup.get().expect(200);
    expect(idsOf(body)).toContain((2n ** 256n - 1n).toString());
  });
});
