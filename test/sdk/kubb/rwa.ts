import assert from 'node:assert/strict';
import {
  createRwa,
  getRwa,
  getRwaKey,
  getUsage,
  type ListNftTransfers404,
  listNfts,
  listNftTransfers,
  listRwas,
  type MintNft404,
  mintNft,
  updateRwa,
} from '../dist/kubb/rwa/index.js';
import { live, unknownId } from '../live.js';
import { failureOf } from './problem.js';

const options = { baseURL: live.baseUrl, headers: { 'x-api-key': live.key } };

assert.equal((await getRwaKey(options)).scopes, null);
const usage = await getUsage({ from: '2027-05-01', to: '2027-05-31', by: 'key' }, options);
assert.equal(usage.calls, 0);

const { rwas } = await listRwas({ limit: 1 }, options);
const [rwa] = rwas;
assert(rwa, 'The company of the key has no RWA.');

const detail = await getRwa(rwa.id, options);
assert.equal(detail.name, rwa.name);
assert.equal(detail.totalNfts, detail.claimedNfts + detail.unclaimedNfts);

const nfts = await listNfts({ rwaId: rwa.id, claimed: false }, options);
for (const nft of nfts) assert.equal(nft.rwa.id, rwa.id);

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
