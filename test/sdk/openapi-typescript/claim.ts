import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from '../dist/openapi-typescript/claim/schema.js';
import { heldNft } from '../held-nft.js';
import { live, unknownId } from '../live.js';

const client = createClient<paths>({ baseUrl: live.baseUrl });
const { nftId, secret } = await heldNft();

const read = await client.POST('/claims/{nftId}/state', { params: { path: { nftId } }, body: { secret } });
assert(read.data, read.error?.detail);
assert.equal(read.data.nftId, nftId);
assert.notEqual(read.data.claimStatus, 'minted');

const missing = await client.POST('/claims/{nftId}', {
  params: { path: { nftId: unknownId } },
  body: { secret: 'none', recipient: live.wallet },
});
const problem: components['schemas']['Problem'] | undefined = missing.error;
assert(['claim_not_found', 'secret_locked'].includes(problem?.code ?? ''));
