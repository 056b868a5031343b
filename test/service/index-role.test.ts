import { afterAll, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { startChain, type TestChain } from '../support/chain.ts';
import type { TestDatabase } from '../support/database.ts';
import { callNode, deployer } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';

const patience = { interval: 20, timeout: 15_000 };
let chains: TestChain[];
let service: Service;

const network = (chainId: string, rpcUrl: string) => ({
  chain_id: chainId,
  name: `Chain ${chainId}`,
  rpc_urls: [rpcUrl],
  data_provider: 'indexer',
  currency_name: 'Ether',
  currency_symbol: 'ETH',
  currency_decimals: 18,
  confirmations: 1,
  finality_depth: 64,
});
const pay = (chain: TestChain | undefined) =>
  callNode(chain?.rpcUrl ?? '', 'eth_sendTransaction', [{ from: deployer, to: deployer, value: '0x1' }]);
const heads = async (database: TestDatabase) => {
  const rows = await database
    .db('index_state')
    .whereNot('chain_id', 5)
    .orderBy('chain_id')
    .select('chain_id', 'head_number');
  return rows.map((row) => `${row.chain_id}: ${row.head_number}`);
};
const indexed = (database: TestDatabase, ...expected: string[]) =>
  vi.waitFor(async () => expect(await heads(database)).toEqual(expected), patience);
type Readiness = { readonly checks: { readonly index: string } };
const ready = () => fetch(`http://127.0.0.1:${service.port}/readyz`);
const leases = async (database: TestDatabase) => {
  const { rows } = await database.db.raw(
    `SELECT FROM leases WHERE expires_at > clock_timestamp() AND name LIKE 'index %'`,
  );
  return rows.length;
};

test.beforeAll(async ({ database }) => {
  chains = await Promise.all([startChain(), startChain({ chainId: '77' })]);
  await database.db('networks').insert(network('31337', chains[0]?.rpcUrl ?? ''));
  const keys = `a:${Buffer.alloc(32, 1).toString('base64')}`;
  const settings = { HOST: '127.0.0.1', PORT: '0', DRAIN_SECONDS: '0', INDEX_READY_LAG: '0' };
  const config = loadConfig({
    ...settings,
    INDEX_POLL_MS: '50',
    DATABASE_URL: database.url,
    SECRET_KEYS: keys,
    CURSOR_KEYS: keys,
  });
  service = await startService(config, createLogger({ level: 'silent' }));
});
afterAll(async () => {
  await Promise.all(chains.map((chain) => chain.close()));
});

test('indexes what is registered and what comes, and leaves what goes', async ({ database }) => {
  await pay(chains[0]);
  await indexed(database, '31337: 1');
  expect((await ready()).status).toBe(200);
  await database.db('networks').insert({ ...network('77', chains[1]?.rpcUrl ?? ''), index_from: '2' });
  await pay(chains[1]);
  await pay(chains[1]);
  await indexed(database, '77: 2', '31337: 1');
  expect(await database.db('wallet_history').where({ chain_id: '77' }).select('block_number')).toEqual([
    { block_number: '2' },
  ]);
  await database.db('networks').where({ chain_id: 31337 }).update({ data_provider: 'moralis' });
  await vi.waitFor(async () => expect(await leases(database)).toBe(1), patience);
  await pay(chains[0]);
  await pay(chains[1]);
  await indexed(database, '77: 3', '31337: 1');
});

test('says that a network has no index, answers callers all the same, and goes on when its node can be reached', async ({
  database,
}) => {
  const indexCheck = async () => ((await (await ready()).json()) as Readiness).checks.index;
  await database
    .db('networks')
    .insert(network('31337', chains[0]?.rpcUrl ?? ''))
    .onConflict('chain_id')
    .merge();
  await database.db('networks').insert(network('5', 'http://127.0.0.1:9'));
  await vi.waitFor(async () => expect(await indexCheck()).toBe('failing'), patience);
  expect((await ready()).status).toBe(200);
  await database.db('networks').where({ chain_id: 5 }).delete();
  await indexed(database, '77: 3', '31337: 2');
  await vi.waitFor(async () => expect(await indexCheck()).toBe('ok'), patience);
});

test('ends every index before its connections when the service stops', async ({ database }) => {
  await service.stop();
  expect(await leases(database)).toBe(0);
});
