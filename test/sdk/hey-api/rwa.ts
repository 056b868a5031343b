import assert from 'node:assert/strict';
import { client } from '../dist/hey-api/rwa/client.gen.js';
import {
  createAndMintNft,
  createRwa,
  createSnapshot,
  getNft,
  getRwa,
  getRwaKey,
  getSnapshot,
  getSnapshotProof,
  getUsage,
  listNfts,
  listNftTransfers,
  listRwaHolders,
  listRwas,
  mintNft,
  type Problem,
  updateNft,
  updateRwa,
} from '../dist/hey-api/rwa/index.js';
import { live, unknownId, until } from '../live.js';

client.setConfig({ baseUrl: live.baseUrl, auth: live.key });

const key = await getRwaKey();
assert(key.data, key.error?.detail);
assert.equal(key.data.scopes, null);
const usage = await getUsage({ query: { from: '2027-05-01', to: '2027-05-31', by: 'key' } });
assert(usage.data, usage.error?.detail);
assert.equal(usage.data.calls, 0);

const list = await listRwas({ query: { limit: 1, isClaimable: true } });
assert(list.data, list.error?.detail);
const [rwa] = list.data.rwas;
assert(rwa, 'The company of the key has no RWA.');

const detail = await getRwa({ path: { id: rwa.id } });
assert(detail.data, detail.error?.detail);
assert.equal(detail.data.name, rwa.name);
assert.equal(detail.data.totalNfts, detail.data.claimedNfts + detail.data.unclaimedNfts);

const nfts = await listNfts({ query: { rwaId: rwa.id, claimed: false } });
assert(nfts.data, nfts.error?.detail);
for (const nft of nfts.data) assert.equal(nft.rwa.id, rwa.id);
const [nft] = nfts.data;
assert(nft, 'The RWA has no NFT that is not minted.');
const attributes = [{ trait_type: 'Bottle', value: '14 of 320' }];
const described = await updateNft({ path: { id: nft.id }, body: { attributes } });
assert.deepEqual(described.data?.attributes, attributes);

const missing = await mintNft({ path: { id: unknownId }, body: { secret: 'none', recipient: live.wallet } });
const problem: Problem | undefined = missing.error;
assert.deepEqual([missing.response?.status, problem?.code], [404, 'nft_not_found']);

const { chainId, contractAddress } = detail.data;
const created = await createRwa({
  body: { name: 'Cask of a client', type: 'whisky', chainId, contractAddress },
});
assert(created.data, created.error?.detail);
const changed = await updateRwa({ path: { id: created.data.id }, body: { archived: true } });
assert(changed.data?.archivedAt, changed.error?.detail);

const transfers = await listNftTransfers({ path: { id: unknownId } });
assert.equal(transfers.error?.code, 'nft_not_found');

const path = { id: rwa.id };
const minted = await createAndMintNft({ path, body: { recipient: live.wallet } });
assert(minted.data, minted.error?.detail);
const { nftId } = minted.data;
await until(async () => (await getNft({ path: { id: nftId } })).data?.owner);
const holders = await listRwaHolders({ path });
assert(holders.data, holders.error?.detail);
for (const { count, tokenIds } of holders.data.holders) assert.equal(count, tokenIds.length);

const snapshot = await createSnapshot({ path });
assert(snapshot.data, snapshot.error?.detail);
const { id } = snapshot.data;
await until(async () => {
  const { data } = await getSnapshot({ path: { id } });
  return data?.state === 'taken' ? data : undefined;
});
const proof = await getSnapshotProof({ path: { id }, query: { wallet: live.wallet } });
assert(proof.data, proof.error?.detail);
assert(proof.data.count >= 1);
