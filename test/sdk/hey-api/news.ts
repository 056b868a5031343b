import assert from 'node:assert/strict';
import { client } from '../dist/hey-api/news/client.gen.js';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listNews,
  type Problem,
  updateEndpoint,
} from '../dist/hey-api/news/index.js';
import { live, unknownId } from '../live.js';

client.setConfig({ baseUrl: live.baseUrl, auth: live.key });

const created = await createEndpoint({
  body: { url: 'https://partner.example/news', types: ['nft.minted'] },
});
assert(created.data, created.error?.detail);
const path = { endpointId: created.data.id };

const changed = await updateEndpoint({ path, body: { types: null } });
assert.equal(changed.data?.types, null);

const page = await listNews({ query: { limit: 5, types: ['event.created'] } });
assert(page.data?.news.every(({ type }) => type === 'event.created'));

const deleted = await deleteEndpoint({ path });
assert.equal(deleted.response?.status, 204);

const missing = await getEndpoint({ path: { endpointId: unknownId } });
const problem: Problem | undefined = missing.error;
assert.deepEqual([missing.response?.status, problem?.code], [404, 'endpoint_not_found']);
