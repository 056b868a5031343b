import assert from 'node:assert/strict';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listNews,
  type Problem,
  updateEndpoint,
} from '../dist/orval/news/client.js';
import { live, unknownId } from '../live.js';

const options = { headers: { 'x-api-key': live.key } };

const created = await createEndpoint({ url: 'https://partner.example/news', types: ['nft.minted'] }, options);
assert(created.status === 201);
const { id } = created.data;

const changed = await updateEndpoint(id, { types: null }, options);
assert(changed.status === 200);
assert.equal(changed.data.types, null);

const page = await listNews({ limit: 5, types: ['event.created'] }, options);
assert(page.status === 200);
assert(page.data.news.every(({ type }) => type === 'event.created'));

const deleted = await deleteEndpoint(id, options);
assert.equal(deleted.status, 204);

const missing = await getEndpoint(unknownId, options);
assert(missing.status === 404);
const problem: Problem = missing.data;
assert.equal(problem.code, 'endpoint_not_found');
