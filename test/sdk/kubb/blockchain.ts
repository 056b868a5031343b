import assert from 'node:assert/strict';
import {
  type GetTokenBalance400,
  getTokenBalance,
  getWalletHistory,
  getWalletReconciliation,
  listWalletApprovals,
  listWalletChains,
  listWalletNfts,
  listWalletTokens,
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

const tokens = await listWalletTokens(query, options);
assert.match(tokens.result[0]?.balance ?? '', /^\d+$/);
const approvals = await listWalletApprovals(query, options);
assert(approvals.result.every(({ kind }) => ['amount', 'token', 'all'].includes(kind)));
const chains = await listWalletChains({ address: live.wallet }, options);
assert.equal(chains.result[0]?.chainId, Number(live.chainId));
const reconciled = await getWalletReconciliation(query, options);
assert.equal(reconciled.unattributed, '0');

const refused = await failureOf<GetTokenBalance400>(getTokenBalance({ ...query, chainId: '0x1' }, options));
assert.deepEqual([refused.status, refused.body.code], [400, 'network_not_found']);
