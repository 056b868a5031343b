import { Interface } from 'ethers';
import { describe, expect } from 'vitest';
import { createIndexerProvider } from '../../src/providers/indexer/indexer-provider.ts';
import type { HistoryRecord } from '../../src/providers/shared/provider.ts';
import type { TestChain } from '../support/chain.ts';
import type { TestDatabase } from '../support/database.ts';
import { callNode, deploy, sendMined } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { indexChain } from '../support/index-chain.ts';
import { testNetwork } from '../support/networks.ts';
import { compileContracts } from '../support/solidity.ts';
import { walk } from '../support/walk.ts';
import { readerOf } from './reader.ts';

const abi = new Interface([
  'function mint(address to, uint256 id) payable',
  'function burn(uint256 id)',
  'function transferFrom(address from, address to, uint256 id)',
  'function approve(address to, uint256 value)',
  'function setApprovalForAll(address to, bool on)',
  'function transfer(address to, uint256 value)',
  'function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
  'function mintBatch(address to, uint256[] ids, uint256[] amounts)',
  'function deposit() payable',
  'function withdraw(uint256)',
  'function split(address one, address other) payable',
  'function tryToPay(address to) payable',
  'function payAndFail(address to) payable',
  'function balanceOf(address) view returns (uint256)',
  'function ownerOf(uint256) view returns (address)',
]);
const pieces = new Interface([
  'function mint(address to, uint256 id, uint256 amount)',
  'function balanceOf(address, uint256) view returns (uint256)',
]);
let accounts: string[];
let contracts: { coin: string; nft: string; pieces: string; weth: string; payer: string };

const call = (name: string, values: readonly unknown[]) => abi.encodeFunctionData(name, values);
const view = async (chain: TestChain, to: string, data: string) =>
  BigInt(await callNode<string>(chain.rpcUrl, 'eth_call', [{ to, data }, 'latest']));
const network = (chain: TestChain) => testNetwork([chain.rpcUrl], { wrappedNatives: [contracts.weth] });

async function history(
  database: TestDatabase,
  chain: TestChain,
  wallet: string,
  limit = 7,
): Promise<HistoryRecord[]> {
  const reader = createIndexerProvider(database);
  const question = { network: network(chain), address: wallet, order: 'ASC', limit } as const;
  const pages = await walk((position) => reader.history({ ...question, position }));
  return pages.flatMap(({ records }) => records);
}

test.beforeAll(async ({ database, chain }) => {
  accounts = (await callNode<string[]>(chain.rpcUrl, 'eth_accounts', [])).map((account) =>
    account.toLowerCase(),
  );
  const compiled = await compileContracts();
  contracts = {
    coin: await deploy(chain.rpcUrl, compiled['Coin']),
    nft: await deploy(chain.rpcUrl, compiled['Collectible']),
    pieces: await deploy(chain.rpcUrl, compiled['Pieces']),
    weth: await deploy(chain.rpcUrl, compiled['WrappedNative']),
    payer: await deploy(chain.rpcUrl, compiled['Payer']),
  };
  await act(chain);
  await indexChain(database, chain.rpcUrl, 'debug', { wrappedNatives: [contracts.weth] });
});

/** Something of everything, between five accounts. */
async function act(chain: TestChain): Promise<void> {
  const [a = '', b = '', c = '', d = ''] = accounts;
  const { coin, nft, pieces: many, weth, payer } = contracts;
  const send = (from: string, to: string, data: string, value = 0n) =>
    sendMined(chain.rpcUrl, { from, to, data, value });
  await send(a, b, '0x', 5n * 10n ** 18n);
  await send(b, b, '0x', 1n);
  await send(a, coin, call('transfer', [b, 1_000n]));
  await send(b, coin, call('transfer', [c, 400n]));
  await send(b, coin, call('transfer', [c, 4_000_000n])); // more than it has: fails
  await send(b, coin, call('approve', [c, 5n]));
  await send(b, coin, call('approve', [c, 0n]));
  for (const id of [1n, 2n, 3n, 4n]) await send(a, nft, call('mint', [b, id]));
  await send(b, nft, call('transferFrom', [b, c, 2n]));
  await send(c, nft, call('transferFrom', [c, b, 2n]));
  await send(b, nft, call('burn', [3n]));
  await send(b, nft, call('setApprovalForAll', [d, true]));
  await send(d, nft, call('transferFrom', [b, d, 4n]));
  await send(a, many, pieces.encodeFunctionData('mint', [b, 7n, 50n]));
  await send(a, many, call('mintBatch', [b, [8n, 9n, 7n], [1n, 2n, 3n]]));
  await send(b, many, call('safeTransferFrom', [b, c, 7n, 20n, '0x']));
  await send(c, weth, call('deposit', []), 10n ** 18n);
  await send(c, weth, call('withdraw', [4n * 10n ** 17n]));
  await send(d, payer, call('split', [a, b]), 1_000_000_007n);
  await send(d, payer, call('tryToPay', [a]), 99n);
  await send(d, payer, call('payAndFail', [a]), 99n);
}

describe('a local chain', () => {
  test('agrees to the wei with every balance, from nothing but the records', async ({ database, chain }) => {
    const start = 10_000n * 10n ** 18n;
    for (const wallet of accounts.slice(0, 5)) {
      let balance = start;
      for (const record of await history(database, chain, wallet)) {
        for (const { direction, value, from_address, to_address } of record.native_transfers) {
          if (from_address !== to_address) balance += direction === 'send' ? -BigInt(value) : BigInt(value);
        }
        const fee = BigInt(record.receipt_gas_used ?? 0) * BigInt(record.gas_price ?? 0);
        if (record.from_address === wallet) balance -= fee;
      }
      expect(balance).toBe(
        BigInt(await callNode<string>(chain.rpcUrl, 'eth_getBalance', [wallet, 'latest'])),
      );
    }
  });

  test('agrees with every token balance', async ({ database, chain }) => {
    for (const wallet of accounts.slice(0, 5)) {
      const transfers = (await history(database, chain, wallet)).flatMap(
        ({ erc20_transfers }) => erc20_transfers,
      );
      for (const token of [contracts.coin, contracts.weth]) {
        const own = transfers.filter(({ address }) => address === token);
        const sum = own.reduce(
          (total, { direction, value }) => total + (direction === 'send' ? -1n : 1n) * BigInt(value),
          0n,
        );
        expect(sum).toBe(await view(chain, token, call('balanceOf', [wallet])));
      }
    }
  });
});

describe('the NFTs of a local chain', () => {
  const listOf = async (database: TestDatabase, chain: TestChain, wallet: string) =>
    (await readerOf(database, network(chain)).nfts(wallet)).entries;

  test('are those that the contracts say', async ({ database, chain }) => {
    const { nft, pieces: many } = contracts;
    for (const wallet of accounts.slice(0, 5)) {
      const owned = (await listOf(database, chain, wallet)).map(
        (entry) => `${entry.token_address} ${entry.token_id} ${entry.amount}`,
      );
      const expected: string[] = [];
      for (const id of [1n, 2n, 4n]) {
        if ((await view(chain, nft, call('ownerOf', [id]))) === BigInt(wallet))
          expected.push(`${nft} ${id} 1`);
      }
      for (const id of [7n, 8n, 9n]) {
        const amount = await view(chain, many, pieces.encodeFunctionData('balanceOf', [wallet, id]));
        if (amount > 0n) expected.push(`${many} ${id} ${amount}`);
      }
      expect(owned.sort()).toEqual(expected.sort());
    }
  });

  test('have names and addresses of metadata', async ({ database, chain }) => {
    const entries = await listOf(database, chain, accounts[1] ?? '');
    expect(entries.find(({ token_id }) => token_id === '2')).toMatchObject({
      name: 'Collectible',
      symbol: 'CLT',
      token_uri: 'https://tokens.test/2',
      contract_type: 'ERC721',
    });
    const piece = entries.find(({ token_id }) => token_id === '8');
    expect(piece?.token_uri).toBe(`https://pieces.test/${'8'.padStart(64, '0')}.json`);
    expect(piece).toMatchObject({ name: null, contract_type: 'ERC1155' });
  });
});
