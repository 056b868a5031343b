import assert from 'node:assert/strict';
import {
  createEndpoint,
  deleteEndpoint,
  type GetEndpoint404,
  getEndpoint,
  listNews,
  updateEndpoint,
} from '../dist/kubb/news/index.js';
import { live, unknownId } from '../live.js';
import { failureOf } from './problem.js';

const options = { baseURL: live.baseUrl, headers: { 'x-api-key': live.key } };

const body = { url: 'https://partner.example/news' };
const { id } = await createEndpoint(body, undefined, options);

const changed = await updateEndpoint(id, { enabled: false }, options);
assert.equal(changed.disabledReason, 'requested');

const page = await listNews({ limit: 5 }, undefined, options);
assert(page.news.every(({ sequence }) => sequence >= 1));

await deleteEndpoint(id, options);

const missing = await failureOf<GetEndpoint404>(getEndpoint(unknownId, options));
assert.deepEqual([missing.status, missing.body.code], [404, 'endpoint_not_found']);
