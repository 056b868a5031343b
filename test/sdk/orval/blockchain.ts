import assert from 'node:assert/strict';
import {
  getTokenBalance,
  getWalletHistory,
  listWalletNfts,
  type Problem,
} from '../dist/orval/blockchain/client.js';
import { live } from '../live.js';

const options = { headers: { 'x-api-key': live.key } };
const query = { address: live.wallet, chainId: live.chainId };

const balance = await getTokenBalance(query, options);
assert(balance.status === 200);
assert.match(balance.data.balance, /^\d+$/);

const history = await getWalletHistory({ ...query, limit: 2 }, options);
assert(history.status === 200);
const [record] = history.data.history.result;
assert.equal(typeof record?.block_number, 'string');

const nfts = await listWalletNfts({ ...query, order: 'ASC' }, options);
assert(nfts.status === 200);
assert.equal(nfts.data.result.length, nfts.data.page_size);

const refused = await getTokenBalance({ ...query, chainId: '0x1' }, options);
assert(refused.status === 400);
const problem: Problem = refused.data;
assert.equal(problem.code, 'network_not_found');
