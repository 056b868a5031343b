import { Interface } from 'ethers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createChainRpc } from '../../src/local/programs/chain-rpc.ts';
import { readLocalSettings } from '../../src/local/settings.ts';
import { untilIndexed } from '../../src/local/until-indexed.ts';
import type { HistoryRecord, NftEntry } from '../../src/providers/shared/provider.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { askChain, type Moved, type Told } from './chain-truth.ts';
import { type LocalRun, makeDirectory, readCredentials, removeDirectory, runLocal } from './local-run.ts';

const contract = new Interface([
  'function ownerOf(uint256) view returns (address)',
  'function balanceOf(address, uint256) view returns (uint256)',
]);
const log = createLogger({ level: 'silent' });
let directory: string;
let run: LocalRun;
let service: Service;
let credentials: Awaited<ReturnType<typeof readCredentials>>;
let chain: Told[];
let wallets: string[];

beforeAll(async () => {
  directory = await makeDirectory(true);
  run = runLocal(directory);
  await run.ready;
  credentials = await readCredentials(directory);
  const settings = { HOST: '127.0.0.1', PORT: '0', RATE_LIMIT_PER_SECOND: '0', INDEX_READY_LAG: '0' };
  const config = loadConfig({ ...readLocalSettings(directory), ...settings });
  service = await startService(config, log);
  expect(await untilIndexed(config, credentials, log)).toBe(true);
  chain = await askChain(credentials.rpcUrl);
  wallets = credentials.wallets.map((wallet: string) => wallet.toLowerCase());
});

afterAll(async () => {
  await service.stop();
  run.child.kill('SIGTERM');
  await run.ended;
  await removeDirectory(directory);
});

type List<T> = { readonly cursor?: string; readonly result: readonly T[] };

/** Everything that the service lists, page by page. */
async function listed<T>(path: string, wallet: string, order: string, limit: number): Promise<T[]> {
  const all: T[] = [];
  let cursor = '';
  do {
    const query = new URLSearchParams({
      ...{ address: wallet, chainId: '31337', order, limit: String(limit) },
      ...(cursor !== '' && { cursor }),
    });
    const response = await fetch(`http://127.0.0.1:${service.port}/blockchain/v1/api/${path}?${query}`, {
      headers: { 'x-api-key': credentials.keys.noCompany },
    });
    expect(response.status).toBe(200);
    const body = (await response.json()) as List<T> & { history?: List<T> }; // as the contract has it
    const page = body.history ?? body;
    expect(page.result.length).toBeLessThanOrEqual(limit);
    all.push(...page.result);
    cursor = page.cursor ?? '';
  } while (cursor !== '');
  return all;
}

const ways = ['ASC', 'DESC'].flatMap((order) => [3, 10, 100].map((limit) => ({ order, limit })));
const inOrder = <T>(order: string, list: readonly T[]): T[] =>
  order === 'ASC' ? [...list] : list.toReversed();

describe('the history of every sample wallet', () => {
  test.each(ways)('is what the chain says, transaction by transaction: $order by $limit', async (way) => {
    for (const wallet of wallets) {
      const records = await listed<HistoryRecord>('wallet/history', wallet, way.order, way.limit);
      const expected = chain.filter((told) => concerns(told, wallet)).map((told) => factsOf(told, wallet));
      expect(expected.length).toBeGreaterThan(10);
      expect(records.map(factsOfRecord)).toEqual(inOrder(way.order, expected));
    }
  });
});

describe('the NFTs of every sample wallet', () => {
  test.each(ways)('are what the contracts say, in order of acquisition: $order by $limit', async (way) => {
    for (const wallet of wallets) {
      const entries = await listed<NftEntry>('nft', wallet, way.order, way.limit);
      const found = entries.map((entry) => [entry.token_address, entry.token_id, entry.amount].join('/'));
      const expected = await ownedBy(wallet);
      expect(expected.length).toBeGreaterThan(2);
      expect(found).toEqual(inOrder(way.order, expected));
    }
  });
});

test('NFTs get the metadata that their contracts carry', async () => {
  await vi.waitFor(
    async () => {
      const entries = await listed<NftEntry>('nft', wallets[2] ?? '', 'ASC', 100);
      const names = new Set(entries.map(({ normalized_metadata: metadata }) => metadata?.name));
      expect(names).toEqual(new Set(['Sample Collectible', 'Sample Edition']));
    },
    { interval: 100, timeout: 15_000 },
  );
});

test('is ready when the index is at the head', async () => {
  const response = await fetch(`http://127.0.0.1:${service.port}/readyz`);
  expect(await response.json()).toMatchObject({ status: 'ready', checks: { index: 'ok' } });
});

const has =
  (wallet: string) =>
  ({ from, to }: { readonly from: string; readonly to: string | null }) =>
    from === wallet || to === wallet;

const concerns = (told: Told, wallet: string) => [told, ...told.tokens, ...told.native].some(has(wallet));

const decimal = (quantity: string) => BigInt(quantity).toString();

function factsOf(told: Told, wallet: string) {
  const own = told.tokens.filter(has(wallet));
  const named = ({ contract: token, from, to, id, amount }: Moved) =>
    [token, from, to, ...(id === undefined ? [] : [id]), amount].join(' ');
  return {
    hash: told.hash,
    block: [decimal(told.block.number), told.block.hash, decimal(told.transactionIndex)],
    ends: [told.from, told.to],
    value: decimal(told.value),
    nonce: decimal(told.nonce),
    outcome: [decimal(told.receipt.status), decimal(told.receipt.gasUsed)],
    native: told.native
      .filter(has(wallet))
      .map(({ from, to, value }) => `${from} ${to} ${value}`)
      .toSorted(),
    erc20: own.filter(({ id }) => id === undefined).map(named),
    nfts: own.filter(({ id }) => id !== undefined).map(named),
  };
}

function factsOfRecord(record: HistoryRecord): ReturnType<typeof factsOf> {
  return {
    hash: record.hash,
    block: [record.block_number, record.block_hash, String(record.transaction_index)],
    ends: [record.from_address, record.to_address],
    value: record.value,
    nonce: String(record.nonce),
    outcome: [String(record.receipt_status), String(record.receipt_gas_used)],
    native: record.native_transfers
      .map(({ from_address: from, to_address: to, value }) => `${from} ${to} ${value}`)
      .toSorted(),
    erc20: record.erc20_transfers.map(({ address, from_address: from, to_address: to, value }) =>
      [address, from, to, value].join(' '),
    ),
    nfts: record.nft_transfers.map(({ token_address: address, from_address: from, to_address: to, ...nft }) =>
      [address, from, to, nft.token_id, nft.amount].join(' '),
    ),
  };
}

/** Asks the contracts for every NFT that the wallet ever got; the last time that it did gives the order. */
async function ownedBy(wallet: string): Promise<string[]> {
  const rpc = createChainRpc(credentials.rpcUrl);
  const call = async (to: string, data: string) =>
    BigInt(String(await rpc.call('eth_call', { to, data }, 'latest').catch(() => '0x0')));
  const got = new Map<string, Moved & { readonly id: bigint }>();
  for (const move of chain.flatMap(({ tokens }) => tokens)) {
    const { contract: token, id, to } = move;
    if (id !== undefined && to === wallet) got.set(`${token}/${id}`, { ...move, id });
  }
  const owned: { readonly name: string; readonly last: Moved & { readonly id: bigint } }[] = [];
  for (const [name, last] of got) {
    const isEdition = last.contract === credentials.contracts.SampleEdition.toLowerCase();
    const amount = isEdition
      ? await call(last.contract, contract.encodeFunctionData('balanceOf', [wallet, last.id]))
      : (await call(last.contract, contract.encodeFunctionData('ownerOf', [last.id]))) === BigInt(wallet)
        ? 1n
        : 0n;
    if (amount > 0n) owned.push({ name: `${name}/${amount}`, last });
  }
  const earlier = (a: Moved & { id: bigint }, b: Moved & { id: bigint }) =>
    a.place[0] - b.place[0] || a.place[1] - b.place[1] || Number(a.id - b.id);
  return owned.toSorted((a, b) => earlier(a.last, b.last)).map(({ name }) => name);
}
