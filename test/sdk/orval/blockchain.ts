import assert from 'node:assert/strict';
import {
  getTokenBalance,
  getWalletHistory,
  getWalletReconciliation,
  listWalletApprovals,
  listWalletChains,
  listWalletNfts,
  listWalletTokens,
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

const tokens = await listWalletTokens(query, options);
assert(tokens.status === 200);
assert.match(tokens.data.result[0]?.balance ?? '', /^\d+$/);
const approvals = await listWalletApprovals(query, options);
assert(approvals.status === 200);
assert(approvals.data.result.every(({ kind }) => ['amount', 'token', 'all'].includes(kind)));
const chains = await listWalletChains({ address: live.wallet }, options);
assert(chains.status === 200);
assert.equal(chains.data.result[0]?.chainId, Number(live.chainId));
const reconciled = await getWalletReconciliation(query, options);
assert(reconciled.status === 200);
assert.equal(reconciled.data.unattributed, '0');

const refused = await getTokenBalance({ ...query, chainId: '0x1' }, options);
assert(refused.status === 400);
const problem: Problem = refused.data;
assert.equal(problem.code, 'network_not_found');
