import assert from 'node:assert/strict';
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
} from '../dist/orval/rwa/client.js';
import { live, unknownId, until } from '../live.js';

const options = { headers: { 'x-api-key': live.key } };

const key = await getRwaKey(options);
assert(key.status === 200);
assert.equal(key.data.scopes, null);
const usage = await getUsage({ from: '2027-05-01', to: '2027-05-31', by: 'key' }, options);
assert(usage.status === 200);
assert.equal(usage.data.calls, 0);

const list = await listRwas({ limit: 1, isClaimable: true }, options);
assert(list.status === 200);
const [rwa] = list.data.rwas;
assert(rwa, 'The company of the key has no RWA.');

const detail = await getRwa(rwa.id, options);
assert(detail.status === 200);
assert.equal(detail.data.name, rwa.name);
assert.equal(detail.data.totalNfts, detail.data.claimedNfts + detail.data.unclaimedNfts);

const nfts = await listNfts({ rwaId: rwa.id, claimed: false }, options);
assert(nfts.status === 200);
for (const nft of nfts.data) assert.equal(nft.rwa.id, rwa.id);
const [nft] = nfts.data;
assert(nft, 'The RWA has no NFT that is not minted.');
const attributes = [{ trait_type: 'Bottle', value: '14 of 320' }];
const described = await updateNft(nft.id, { attributes }, options);
assert(described.status === 200);
assert.deepEqual(described.data.attributes, attributes);

const missing = await mintNft(unknownId, { secret: 'none', recipient: live.wallet }, options);
assert(missing.status === 404);
const problem: Problem = missing.data;
assert.equal(problem.code, 'nft_not_found');

const { chainId, contractAddress } = detail.data;
const created = await createRwa(
  { name: 'Cask of a client', type: 'whisky', chainId, contractAddress },
  options,
);
assert(created.status === 201);
const changed = await updateRwa(created.data.id, { archived: true }, options);
assert(changed.status === 200);
assert(changed.data.archivedAt);

const transfers = await listNftTransfers(unknownId, undefined, options);
assert(transfers.status === 404);
assert.equal(transfers.data.code, 'nft_not_found');

const minted = await createAndMintNft(rwa.id, { recipient: live.wallet }, options);
assert(minted.status === 200);
const { nftId } = minted.data;
await until(async () => {
  const read = await getNft(nftId, options);
  return read.status === 200 ? read.data.owner : undefined;
});
const holders = await listRwaHolders(rwa.id, undefined, options);
assert(holders.status === 200);
for (const { count, tokenIds } of holders.data.holders) assert.equal(count, tokenIds.length);

const snapshot = await createSnapshot(rwa.id, {}, options);
assert(snapshot.status === 202);
const { id } = snapshot.data;
await until(async () => {
  const read = await getSnapshot(id, options);
  return read.status === 200 && read.data.state === 'taken' ? read : undefined;
});
const proof = await getSnapshotProof(id, { wallet: live.wallet }, options);
assert(proof.status === 200);
assert(proof.data.count >= 1);
