import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from '../dist/openapi-typescript/news/schema.js';
import { live, unknownId } from '../live.js';

const client = createClient<paths>({ baseUrl: live.baseUrl, headers: { 'x-api-key': live.key } });

const created = await client.POST('/endpoint', {
  body: { url: 'https://partner.example/news', types: ['nft.minted'] },
});
assert(created.data, created.error?.detail);
assert(created.data.secret.startsWith('whsec_'));
const path = { endpointId: created.data.id };

const changed = await client.PATCH('/endpoint/{endpointId}', { params: { path }, body: { types: null } });
assert.equal(changed.data?.types, null);

const page = await client.GET('/feed', { params: { query: { limit: 5, types: ['event.created'] } } });
assert(page.data, page.error?.detail);
// What an endpoint receives has the form of what the feed has.
type Received = webhooks['event.created']['post']['requestBody']['content']['application/json'];
const news: readonly Received[] = page.data.news;
assert(news.every(({ type, data }) => type === 'event.created' && data.eventId !== undefined));

const deleted = await client.DELETE('/endpoint/{endpointId}', { params: { path } });
assert.equal(deleted.response.status, 204);

const missing = await client.GET('/endpoint/{endpointId}', { params: { path: { endpointId: unknownId } } });
const problem: components['schemas']['Problem'] | undefined = missing.error;
assert.deepEqual([missing.response.status, problem?.code], [404, 'endpoint_not_found']);
