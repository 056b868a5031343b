import assert from 'node:assert/strict';
import { client } from '../dist/hey-api/blockchain/client.gen.js';
import {
  getTokenBalance,
  getWalletHistory,
  getWalletReconciliation,
  listWalletApprovals,
  listWalletChains,
  listWalletNfts,
  listWalletTokens,
  type Problem,
} from '../dist/hey-api/blockchain/index.js';
import { live } from '../live.js';

client.setConfig({ baseUrl: live.baseUrl, auth: live.key });
const query = { address: live.wallet, chainId: live.chainId };

const balance = await getTokenBalance({ query });
assert(balance.data, balance.error?.detail);
assert.match(balance.data.balance, /^\d+$/);

const history = await getWalletHistory({ query: { ...query, limit: 2 } });
assert(history.data, history.error?.detail);
const [record] = history.data.history.result;
assert.equal(typeof record?.block_number, 'string');

const nfts = await listWalletNfts({ query: { ...query, order: 'ASC' } });
assert(nfts.data, nfts.error?.detail);
assert.equal(nfts.data.result.length, nfts.data.page_size);

const entries = await getWalletHistory({ query: { ...query, entries: ['withdrawals', 'rewards'] } });
assert.equal(entries.data?.history.credits?.length, 0);

const tokens = await listWalletTokens({ query });
assert.match(tokens.data?.result[0]?.balance ?? '', /^\d+$/);
const approvals = await listWalletApprovals({ query });
assert(approvals.data?.result.every(({ kind }) => ['amount', 'token', 'all'].includes(kind)));
const chains = await listWalletChains({ query: { address: live.wallet } });
assert.equal(chains.data?.result[0]?.chainId, Number(live.chainId));
const reconciled = await getWalletReconciliation({ query });
assert.equal(reconciled.data?.unattributed, '0');

const refused = await getTokenBalance({ query: { ...query, chainId: '0x1' } });
const problem: Problem | undefined = refused.error;
assert.deepEqual([refused.response?.status, problem?.code], [400, 'network_not_found']);
