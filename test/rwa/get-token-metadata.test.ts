import { describe, expect } from 'vitest';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { test } from '../support/fixtures.ts';
import { addNetwork, addRwa, contractAddress, markMinted } from './samples.ts';

let rwa: OperatorRwa;
let nfts: { id: string; tokenId: string; secret: string }[];

// The first NFT is minted, the second is queued.
test.beforeAll(async ({ service, acme }) => {
  const { db, companies } = service;
  await addNetwork(db, '137');
  rwa = await addRwa(db, companies.acme, {
    description: 'A cask.',
    imageUrl: 'https://images.example/cask.jpg',
    price: '12.50',
    currency: 'EUR',
    data: { cellar: 'hidden' },
  });
  nfts = (await acme.post(`/v1/api/rwa/${rwa.id}/nfts`).send({ count: 2 }).expect(200)).body.nfts;
  await markMinted(db, String(nfts[0]?.id));
  await db('nfts')
    .where({ id: nfts[1]?.id })
    .update({ mint_state: 'queued', data: { order: 'hidden' } });
});

const path = ({ chainId = '31337', contract = contractAddress, tokenId = nfts[0]?.tokenId } = {}) =>
  `/v1/api/metadata/${chainId}/${contract}/${tokenId}`;

describe('200', () => {
  test('shows the public fields of a minted token to anyone, without a key', async ({ anyone }) => {
    const { body } = await anyone.get(path()).expect(200);
    expect(body).toEqual({
      name: 'Cask 17 #000001',
      description: 'A cask.',
      image: 'https://images.example/cask.jpg',
      attributes: [
        { trait_type: 'Type', value: 'whisky' },
        { trait_type: 'Serial', value: '000001' },
      ],
    });
  });

  test('names the issuer by the name that its company shows, never by its own', async ({
    service,
    anyone,
  }) => {
    const setName = (name: string | null) =>
      service.db('companies').where({ id: service.companies.acme }).update({ display_name: name });
    await setName('Acme Casks');
    const { body } = await anyone.get(path()).expect(200);
    await setName(null);
    expect(body.attributes.slice(2)).toEqual([{ trait_type: 'Issuer', value: 'Acme Casks' }]);
  });

  test('shows nothing of the secret, the owner, the price or the data', async ({ service, anyone }) => {
    const { text } = await anyone.get(path()).expect(200);
    const hidden = [nfts[0]?.secret, nfts[0]?.id, rwa.id, service.companies.acme, '12.50', 'hidden'];
    for (const word of hidden) expect(text).not.toContain(word);
  });

  test('may be kept by shared caches', async ({ anyone }) => {
    const { headers } = await anyone.get(path()).expect(200);
    expect(headers['cache-control']).toMatch(/^public, max-age=\d+$/);
  });

  test('takes the contract in any case', async ({ anyone }) => {
    await anyone.get(path({ contract: contractAddress.toLowerCase() })).expect(200);
    await anyone.get(path({ contract: `0x${contractAddress.slice(2).toUpperCase()}` })).expect(200);
  });

  test('has description and image null when the RWA has none', async ({ service, anyone }) => {
    const plain = await addRwa(service.db, service.companies.globex);
    const globex = service.as(service.keys.globex);
    const { body: made } = await globex.post(`/v1/api/rwa/${plain.id}/nfts`).send({ count: 1 }).expect(200);
    await markMinted(service.db, made.nfts[0].id);
    const { body } = await anyone.get(path({ tokenId: made.nfts[0].tokenId })).expect(200);
    expect(body).toMatchObject({ description: null, image: null });
  });
});

describe('400', () => {
  test.for([
    ['chainId', { chainId: '9'.repeat(79) }],
    ['contractAddress', { contract: contractAddress.replace('Fb', 'fb') }],
    ['tokenId', { tokenId: '9'.repeat(79) }],
  ] as const)('names a malformed %s: %j', async ([name, parts], { anyone }) => {
    const { body } = await anyone.get(path(parts)).expect(400);
    expect(body.errors).toMatchObject([{ in: 'path', name }]);
  });
});

describe('404', () => {
  test('does not know an NFT that is not minted', async ({ anyone }) => {
    const { body, headers } = await anyone.get(path({ tokenId: nfts[1]?.tokenId })).expect(404);
    expect(body).toMatchObject({ code: 'token_not_found', detail: 'Token not found' });
    expect(headers['cache-control'] ?? '').not.toContain('public');
  });

  test.for([
    ['of another network', { chainId: '137' }],
    ['of a network that is not registered', { chainId: '1' }],
    ['of a chain id in another writing', { chainId: '031337' }],
    ['of another contract', { contract: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }],
    ['of no RWA', { tokenId: (2n ** 100n + 1n).toString() }],
    ['without an RWA', { tokenId: '1' }],
    ['beyond the serials', { tokenId: ((1n << 64n) + 999n).toString() }],
    ['of 256 bits', { tokenId: (2n ** 256n - 1n).toString() }],
    ['of 78 digits', { tokenId: '9'.repeat(78) }],
  ] as const)('does not know a token %s', async ([_, parts], { anyone }) => {
    await anyone.get(path(parts)).expect(404);
  });

  test('does not know a token id with leading zeros: it has one writing only', async ({ anyone }) => {
    await anyone.get(path({ tokenId: `0${nfts[0]?.tokenId}` })).expect(404);
  });
});
