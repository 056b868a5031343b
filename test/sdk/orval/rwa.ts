import assert from 'node:assert/strict';
import {
  getRwa,
  getRwaKey,
  getUsage,
  listNfts,
  listRwas,
  mintNft,
  type Problem,
} from '../dist/orval/rwa/client.js';
import { live, unknownId } from '../live.js';

const options = { headers: { 'x-api-key': live.key } };

const key = await getRwaKey(options);
assert(key.status === 200);
assert.equal(key.data.scopes, null);
const usage = await getUsage({ from: '2027-05-01', to: '2027-05-31', by: 'key' }, options);
assert(usage.status === 200);
assert.equal(usage.data.calls, 0);

const list = await listRwas({ limit: 1 }, options);
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

const missing = await mintNft(unknownId, { secret: 'none', recipient: live.wallet }, options);
assert(missing.status === 404);
const problem: Problem = missing.data;
assert.equal(problem.code, 'nft_not_found');
