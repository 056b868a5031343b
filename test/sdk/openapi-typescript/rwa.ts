import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from '../dist/openapi-typescript/rwa/schema.js';
import { live, unknownId, until } from '../live.js';

const client = createClient<paths>({ baseUrl: live.baseUrl, headers: { 'x-api-key': live.key } });

const key = await client.GET('/key');
assert(key.data, key.error?.detail);
assert.equal(key.data.scopes, null);
const usage = await client.GET('/usage', {
  params: { query: { from: '2027-05-01', to: '2027-05-31', by: 'key' } },
});
assert(usage.data, usage.error?.detail);
assert.equal(usage.data.calls, 0);

const list = await client.GET('/rwa', { params: { query: { limit: 1, isClaimable: true } } });
assert(list.data, list.error?.detail);
const [rwa] = list.data.rwas;
assert(rwa, 'The company of the key has no RWA.');

const detail = await client.GET('/rwa/{id}', { params: { path: { id: rwa.id } } });
assert(detail.data, detail.error?.detail);
assert.equal(detail.data.name, rwa.name);
assert.equal(detail.data.totalNfts, detail.data.claimedNfts + detail.data.unclaimedNfts);

const nfts = await client.GET('/nft', { params: { query: { rwaId: rwa.id, claimed: false } } });
assert(nfts.data, nfts.error?.detail);
for (const nft of nfts.data) assert.equal(nft.rwa.id, rwa.id);
const [nft] = nfts.data;
assert(nft, 'The RWA has no NFT that is not minted.');
const attributes = [{ trait_type: 'Bottle', value: '14 of 320' }];
const described = await client.PATCH('/nft/{id}', { params: { path: { id: nft.id } }, body: { attributes } });
assert.deepEqual(described.data?.attributes, attributes);

const missing = await client.POST('/nft/{id}/mint', {
  params: { path: { id: unknownId } },
  body: { secret: 'none' },
});
const problem: components['schemas']['Problem'] | undefined = missing.error;
assert.deepEqual([missing.response.status, problem?.code], [404, 'nft_not_found']);

const { chainId, contractAddress } = detail.data;
const created = await client.POST('/rwa', {
  body: { name: 'Cask of a client', type: 'whisky', chainId, contractAddress },
});
assert(created.data, created.error?.detail);
const path = { id: created.data.id };
const changed = await client.PATCH('/rwa/{id}', { params: { path }, body: { archived: true } });
assert(changed.data?.archivedAt, changed.error?.detail);

const transfers = await client.GET('/nft/{id}/transfers', { params: { path: { id: unknownId } } });
assert.equal(transfers.error?.code, 'nft_not_found');

const own = { params: { path: { id: rwa.id } } };
const minted = await client.POST('/rwa/{id}/mint', { ...own, body: { recipient: live.wallet } });
assert(minted.data, minted.error?.detail);
const { nftId } = minted.data;
await until(async () => (await client.GET('/nft/{id}', { params: { path: { id: nftId } } })).data?.owner);
const holders = await client.GET('/rwa/{id}/holders', own);
assert(holders.data, holders.error?.detail);
for (const { count, tokenIds } of holders.data.holders) assert.equal(count, tokenIds.length);

const snapshot = await client.POST('/rwa/{id}/snapshot', own);
assert(snapshot.data, snapshot.error?.detail);
const snapshotPath = { id: snapshot.data.id };
await until(async () => {
  const { data } = await client.GET('/snapshot/{id}', { params: { path: snapshotPath } });
  return data?.state === 'taken' ? data : undefined;
});
const proof = await client.GET('/snapshot/{id}/proof', {
  params: { path: snapshotPath, query: { wallet: live.wallet } },
});
assert(proof.data, proof.error?.detail);
assert(proof.data.count >= 1);
