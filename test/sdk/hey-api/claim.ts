import assert from 'node:assert/strict';
import { client } from '../dist/hey-api/claim/client.gen.js';
import { createClaim, getClaim, type Problem } from '../dist/hey-api/claim/index.js';
import { heldNft } from '../held-nft.js';
import { live, unknownId } from '../live.js';

client.setConfig({ baseUrl: live.baseUrl });
const { nftId, secret } = await heldNft();

const read = await getClaim({ path: { nftId }, body: { secret } });
assert(read.data, read.error?.detail);
assert.equal(read.data.nftId, nftId);
assert.notEqual(read.data.claimStatus, 'minted');

const body = { secret: 'none', recipient: live.wallet };
const missing = await createClaim({ path: { nftId: unknownId }, body });
const problem: Problem | undefined = missing.error;
assert(['claim_not_found', 'secret_locked'].includes(problem?.code ?? ''));
