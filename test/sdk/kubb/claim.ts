import assert from 'node:assert/strict';
import { type CreateClaim404, createClaim, getClaim } from '../dist/kubb/claim/index.js';
import { heldNft } from '../held-nft.js';
import { live, unknownId } from '../live.js';
import { failureOf } from './problem.js';

const options = { baseURL: live.baseUrl };
const { nftId, secret } = await heldNft();

const read = await getClaim(nftId, { secret }, options);
assert.equal(read.nftId, nftId);
assert.notEqual(read.claimStatus, 'minted');

const body = { secret: 'none', recipient: live.wallet };
const missing = await failureOf<CreateClaim404>(createClaim(unknownId, body, options));
assert(['claim_not_found', 'secret_locked'].includes(missing.body.code));
