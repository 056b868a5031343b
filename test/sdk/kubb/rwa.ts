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
  type ListNftTransfers404,
  listNfts,
  listNftTransfers,
  listRwas,
  type MintNft404,
  mintNft,
  updateNft,
  updateRwa,
} from '../dist/kubb/rwa/index.js';
import { live, unknownId, until } from '../live.js';
import { failureOf } from './problem.js';

const options = { baseURL: live.baseUrl, headers: { 'x-api-key': live.key } };

assert.equal((await getRwaKey(options)).scopes, null);
const usage = await getUsage({ from: '2027-05-01', to: '2027-05-31', by: 'key' }, options);
assert.equal(usage.calls, 0);

const { rwas } = await listRwas({ limit: 1, isClaimable: true }, options);
const [rwa] = rwas;
assert(rwa, 'The company of the key has no RWA.');

const detail = await getRwa(rwa.id, options);
assert.equal(detail.name, rwa.name);
assert.equal(detail.totalNfts, detail.claimedNfts + detail.unclaimedNfts);

const nfts = await listNfts({ rwaId: rwa.id, claimed: false }, options);
for (const nft of nfts) assert.equal(nft.rwa.id, rwa.id);
const [nft] = nfts;
assert(nft, 'The RWA has no NFT that is not minted.');
const attributes = [{ trait_type: 'Bottle', value: '14 of 320' }];
const described = await updateNft(nft.id, { attributes }, undefined, options);
assert.deepEqual(described.attributes, attributes);

const missing = await failureOf<MintNft404>(
  mintNft(unknownId, { secret: 'none', recipient: live.wallet }, undefined, options),
);
assert.deepEqual([missing.status, missing.body.code], [404, 'nft_not_found']);

const { chainId, contractAddress } = detail;
const created = await createRwa(
  { name: 'Cask of a client', type: 'whisky', chainId, contractAddress },
  undefined,
  options,
);
const changed = await updateRwa(created.id, { archived: true }, undefined, options);
assert(changed.archivedAt);

const transfers = await failureOf<ListNftTransfers404>(listNftTransfers(unknownId, undefined, options));
assert.equal(transfers.body.code, 'nft_not_found');

const { nftId } = await createAndMintNft(rwa.id, { recipient: live.wallet }, undefined, options);
await until(async () => (await getNft(nftId, options)).owner);
const { id } = await createSnapshot(rwa.id, undefined, undefined, options);
await until(async () => {
  const snapshot = await getSnapshot(id, options);
  return snapshot.state === 'taken' ? snapshot : undefined;
});
const proof = await getSnapshotProof(id, { wallet: live.wallet }, options);
assert(proof.count >= 1);
