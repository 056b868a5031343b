import assert from 'node:assert/strict';
import { client } from '../dist/hey-api/rwa/client.gen.js';
import {
  createRwa,
  getRwa,
  getRwaKey,
  getUsage,
  listNfts,
  listNftTransfers,
  listRwaHolders,
  listRwas,
  mintNft,
  type Problem,
  updateRwa,
} from '../dist/hey-api/rwa/index.js';
import { live, unknownId } from '../live.js';

client.setConfig({ baseUrl: live.baseUrl, auth: live.key });

const key = await getRwaKey();
assert(key.data, key.error?.detail);
assert.equal(key.data.scopes, null);
const usage = await getUsage({ query: { from: '2027-05-01', to: '2027-05-31', by: 'key' } });
assert(usage.data, usage.error?.detail);
assert.equal(usage.data.calls, 0);

const list = await listRwas({ query: { limit: 1 } });
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
const holders = await listRwaHolders({ path: { id: rwa.id } });
// The ledger of a service that has just started may have read nothing yet.
if (holders.data === undefined) assert.equal(holders.error?.code, 'owners_unread');
else for (const { count, tokenIds } of holders.data.holders) assert.equal(count, tokenIds.length);
