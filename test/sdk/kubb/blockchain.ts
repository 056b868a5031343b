import assert from 'node:assert/strict';
import {
  type GetTokenBalance400,
  getTokenBalance,
  getWalletHistory,
  listWalletNfts,
} from '../dist/kubb/blockchain/index.js';
import { live } from '../live.js';
import { failureOf } from './problem.js';

const options = { baseURL: live.baseUrl, headers: { 'x-api-key': live.key } };
const query = { address: live.wallet, chainId: live.chainId };

const balance = await getTokenBalance(query, options);
assert.match(balance.balance, /^\d+$/);

const { history } = await getWalletHistory({ ...query, limit: 2 }, options);
const [record] = history.result;
assert.equal(typeof record?.block_number, 'string');

const nfts = await listWalletNfts({ ...query, order: 'ASC' }, options);
assert.equal(nfts.result.length, nfts.page_size);

const refused = await failureOf<GetTokenBalance400>(getTokenBalance({ ...query, chainId: '0x1' }, options));
assert.deepEqual([refused.status, refused.body.code], [400, 'network_not_found']);
