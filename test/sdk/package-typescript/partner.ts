import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
// recipe
import { createTallystick, type events } from 'tallystick-client';

// end

const { SDK_BASE_URL: baseUrl = '', SDK_KEY: apiKey = '' } = process.env;

// recipe
const tallystick = createTallystick({ baseUrl, apiKey });
const { data, error } = await tallystick.rwa.GET('/nft', { params: { query: { claimed: false } } });
// end
assert(data, error?.detail);
const [nft] = data;
assert(nft, 'The company of the key has no NFT that is not minted.');

const claim = await tallystick.claim.POST('/claims/{nftId}/state', {
  params: { path: { nftId: nft.id } },
  body: { secret: nft.secret ?? '' },
});
assert.equal(claim.data?.nftId, nft.id);

const networks = await tallystick.blockchain.GET('/networks');
assert.equal(networks.data?.result[0]?.chainId, 31337);

const body: events.components['schemas']['CreateEventRequest'] = { name: 'Package proof' };
const created = await tallystick.events.POST('/event', { body });
assert(created.data, created.error?.detail);
const path = { eventId: created.data.id };
const feed = await tallystick.news.GET('/feed', { params: { query: { types: ['event.created'] } } });
assert(feed.data?.news.every(({ type }) => type === 'event.created'));
const deleted = await tallystick.events.DELETE('/event/{eventId}', { params: { path } });
assert.equal(deleted.response.status, 204);

for (const area of ['blockchain', 'claim', 'events', 'news', 'rwa']) {
  const file = new URL(import.meta.resolve(`tallystick-client/documents/${area}.json`));
  const { openapi, paths } = JSON.parse(await readFile(file, 'utf8'));
  assert(openapi.startsWith('3.1') && Object.keys(paths).length > 0);
}
