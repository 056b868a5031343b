import assert from 'node:assert/strict';
import { createClaim, getClaim, type Problem } from '../dist/orval/claim/client.js';
import { heldNft } from '../held-nft.js';
import { live, unknownId } from '../live.js';

const { nftId, secret } = await heldNft();

const read = await getClaim(nftId, { secret });
assert(read.status === 200);
assert.equal(read.data.nftId, nftId);
assert.notEqual(read.data.claimStatus, 'minted');

const missing = await createClaim(unknownId, { secret: 'none', recipient: live.wallet });
assert(missing.status === 404 || missing.status === 429);
const problem: Problem = missing.data;
assert(['claim_not_found', 'secret_locked'].includes(problem.code));
