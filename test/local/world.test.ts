import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createChainRpc } from '../../src/local/programs/chain-rpc.ts';
import { readLocalClient, readLocalSettings } from '../../src/local/settings.ts';
import { type LocalRun, makeDirectory, readCredentials, removeDirectory, runLocal } from './local-run.ts';

type Transaction = { hash: string; from: string; to: string | null; input: string; value: string };
type Block = { timestamp: string; transactions: Transaction[] };
type Receipt = { status: string; logs: { address: string; topics: string[] }[] };

let directory: string;
let run: LocalRun;
let credentials: Awaited<ReturnType<typeof readCredentials>>;
let db: Knex;
let blocks: Block[];
let receipts: Receipt[];

beforeAll(async () => {
  directory = await makeDirectory(true);
  run = runLocal(directory);
  await run.ready;
  credentials = await readCredentials(directory);
  db = createDatabase(credentials.databaseUrl, { poolMax: 2, log: createLogger({ level: 'silent' }) });
  const rpc = createChainRpc(credentials.rpcUrl);
  const head = Number(await rpc.call('eth_blockNumber'));
  const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`);
  const many = (method: string, params: unknown[][]) =>
    rpc.batch(params.map((given) => ({ method, params: given })));
  blocks = (await many(
    'eth_getBlockByNumber',
    numbers.map((number) => [number, true]),
  )) as Block[]; // the node's blocks
  const hashes = blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => [hash]));
  receipts = (await many('eth_getTransactionReceipt', hashes)) as Receipt[]; // the node's receipts
});

afterAll(async () => {
  await db.destroy();
  run.child.kill('SIGTERM');
  await run.ended;
  await removeDirectory(directory);
});

const transactions = () => blocks.flatMap((block) => block.transactions);

describe('the sample chain', () => {
  test('has at least 300 transactions of at least 6 wallets over a month that ends now', () => {
    expect(transactions().length).toBeGreaterThanOrEqual(300);
    const senders = new Set(transactions().map(({ from }) => from.toLowerCase()));
    const active = credentials.wallets.filter((wallet: string) => senders.has(wallet.toLowerCase()));
    expect(active.length).toBeGreaterThanOrEqual(6);
    const times = blocks.map(({ timestamp }) => Number(timestamp));
    expect(Date.now() / 1_000 - (times.at(-1) ?? 0)).toBeLessThan(60);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBe(30 * 86_400);
  });

  test('has every kind of transaction', () => {
    const events = receipts.flatMap(({ logs }) => logs.map(({ topics }) => topics[0]));
    expect(new Set(events).size).toBeGreaterThanOrEqual(6);
    expect(receipts.filter(({ status }) => status === '0x0').length).toBeGreaterThanOrEqual(1);
    expect(transactions().filter(({ to }) => to === null).length).toBeGreaterThan(5);
    const plain = transactions().filter(({ input, value }) => input === '0x' && BigInt(value) > 0n);
    expect(plain.length).toBeGreaterThan(100);
    const burned = receipts
      .flatMap(({ logs }) => logs)
      .filter(({ topics }) => /^0x0+$/.test(topics[2] ?? ''));
    expect(burned.length).toBeGreaterThan(2);
  });

  test('has a block with more transactions of one wallet than a small page', () => {
    expect(Math.max(...blocks.map((block) => block.transactions.length))).toBeGreaterThanOrEqual(30);
  });

  test('lets the minter mint and the contract point to the metadata of this service', async () => {
    const [network] = await db('networks').select(
      'chain_id',
      'minter_contract',
      'confirmations',
      'data_provider',
    );
    expect(network).toEqual({
      chain_id: '31337',
      minter_contract: credentials.contracts.TallystickNft,
      confirmations: 1,
      data_provider: 'indexer',
    });
  });
});

describe('the sample database', () => {
  test('has two companies with treasuries and keys, and a key without a company', async () => {
    const companies = await db('companies').orderBy('name').select('name', 'treasury_address');
    expect(companies).toEqual([
      { name: 'acme', treasury_address: credentials.wallets[0] },
      { name: 'globex', treasury_address: credentials.wallets[1] },
    ]);
    const keys = await db('api_keys').whereNull('company_id');
    expect(keys).toHaveLength(1);
    expect(Object.values(credentials.keys)).toEqual(Array(3).fill(expect.stringMatching(/^tk_local_/)));
  });

  test('has assets of all four kinds for each company, with NFTs of the minter contract', async () => {
    const rows = await db('rwas')
      .join('companies', 'companies.id', 'rwas.company_id')
      .where({ contract_address: credentials.contracts.TallystickNft, chain_id: '31337' })
      .where('total_nfts', '>', 0)
      .select('companies.name', 'is_buyable', 'is_claimable');
    const kinds = new Set(rows.map((row) => `${row.name} ${row.is_buyable} ${row.is_claimable}`));
    expect(kinds.size).toBe(8);
  });

  test('has events with attendees, of which one is full, at times of their own', async () => {
    const rows = await db('events').select('company_id', 'total_attendees', 'max_attendees', 'created_at');
    expect(new Set(rows.map((row) => row.company_id)).size).toBe(2);
    expect(rows.every((row) => row.total_attendees > 0)).toBe(true);
    expect(rows.some((row) => row.total_attendees === row.max_attendees)).toBe(true);
    expect(new Set(rows.map((row) => row.created_at.getTime())).size).toBe(rows.length);
  });
});

describe('what a person is given', () => {
  test('is complete, in a file that only its owner can read', async () => {
    expect(credentials).toMatchObject({
      baseUrl: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      portalUrl: expect.stringMatching(/\/docs$/),
      chainId: 31337,
      rpcUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      databaseUrl: expect.stringMatching(/^postgres:\/\//),
    });
    const { mode } = await stat(path.join(directory, '.local/credentials.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  test('is found by commands beside the service', () => {
    const config = loadConfig(readLocalSettings(directory));
    expect(config.DATABASE_URL).toBe(credentials.databaseUrl);
    expect(config).toMatchObject({ KEY_ENVIRONMENT: 'local', publicBaseUrl: credentials.baseUrl });
    expect(readLocalClient(directory)).toEqual({
      baseUrl: config.publicBaseUrl,
      apiKey: credentials.keys.acme,
    });
    expect(() => readLocalSettings('/proc')).toThrow(/^There is no local service in \/proc\./);
  });

  test('has two exports first, and six lines to paste after them', async () => {
    const { banner = '' } = await run.ready;
    const lines = banner.split('\n').filter((line) => line.startsWith('  '));
    expect(lines.slice(0, 2)).toEqual([
      `  export TALLYSTICK=${credentials.baseUrl}`,
      `  export TALLYSTICK_KEY=${credentials.keys.acme}`,
    ]);
    expect(banner.match(/^ {2}curl -H "x-api-key: \$TALLYSTICK_KEY" "\$TALLYSTICK\/\S+"$/gm)).toHaveLength(6);
  });
});
