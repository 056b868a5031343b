import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from '../dist/openapi-typescript/blockchain/schema.js';
import { live } from '../live.js';

const client = createClient<paths>({ baseUrl: live.baseUrl, headers: { 'x-api-key': live.key } });
const query = { address: live.wallet, chainId: live.chainId };

const balance = await client.GET('/token/balance', { params: { query } });
assert(balance.data, balance.error?.detail);
assert.match(balance.data.balance, /^\d+$/);

const history = await client.GET('/wallet/history', { params: { query: { ...query, limit: 2 } } });
assert(history.data, history.error?.detail);
const [record] = history.data.history.result;
assert.equal(typeof record?.block_number, 'string');

const nfts = await client.GET('/nft', { params: { query: { ...query, order: 'ASC' } } });
assert(nfts.data, nfts.error?.detail);
assert.equal(nfts.data.result.length, nfts.data.page_size);

const tokens = await client.GET('/wallet/tokens', { params: { query } });
assert.match(tokens.data?.result[0]?.balance ?? '', /^\d+$/);
const approvals = await client.GET('/wallet/approvals', { params: { query } });
assert(approvals.data?.result.every(({ kind }) => ['amount', 'token', 'all'].includes(kind)));
const chains = await client.GET('/wallet/chains', { params: { query: { address: live.wallet } } });
assert.equal(chains.data?.result[0]?.chainId, Number(live.chainId));
const reconciled = await client.GET('/wallet/reconciliation', { params: { query } });
assert.equal(reconciled.data?.unattributed, '0');

const refused = await client.GET('/token/balance', { params: { query: { ...query, chainId: '0x1' } } });
const problem: components['schemas']['Problem'] | undefined = refused.error;
assert.deepEqual([refused.response.status, problem?.code], [400, 'network_not_found']);
