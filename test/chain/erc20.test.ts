import { createServer } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import type { CompiledContract } from '../../scripts/solidity.ts';
import { createLogger } from '../../src/base/log.ts';
import { NotErc20Error, readErc20Balance, readNativeBalance } from '../../src/chain/erc20.ts';
import { createRpcClients, type RpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import type { TestChain } from '../support/chain.ts';
import { callNode, deploy, deployer } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { startListening } from '../support/listen.ts';
import { testNetwork } from '../support/networks.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { failures } from '../support/node/transport-flaws.ts';
import { compileContracts } from '../support/solidity.ts';

let proxy: TestNode;
let clients: RpcClients;
let contracts: Readonly<Record<string, CompiledContract>>;

test.beforeAll(async ({ chain }) => {
  contracts = await compileContracts();
  proxy = await startNode(chain.rpcUrl);
});
afterAll(() => proxy.close());
// A client remembers that a node limited questions, and waits between the next ones.
beforeEach(() => {
  clients = createRpcClients({ timeoutMs: 1_000, log: createLogger({ level: 'silent' }) });
});
afterEach(() => clients.close());

const node = () => clients.for(testNetwork([proxy.url]));
const deployed = (chain: TestChain, name: string, texts: readonly string[] = []) =>
  deploy(chain.rpcUrl, contracts[name], texts);
const read = async (chain: TestChain, name: string) =>
  readErc20Balance(node(), await deployed(chain, name), deployer);
const head = async (chain: TestChain) => BigInt(await callNode<string>(chain.rpcUrl, 'eth_blockNumber', []));

describe('a native balance', () => {
  test('is that of the newest block, exactly', async ({ chain }) => {
    const poor = '0x00000000000000000000000000000000000000aa';
    const amount = 12_345_678_901_234_567_890_123n;
    await callNode(chain.rpcUrl, 'anvil_setBalance', [poor, `0x${amount.toString(16)}`]);
    expect(await readNativeBalance(node(), poor)).toEqual({
      balance: amount,
      blockNumber: await head(chain),
    });
  });
});

describe('the balance of an ERC-20', () => {
  test('comes with its metadata from one block', async ({ chain }) => {
    const coin = await deployed(chain, 'Coin');
    const metadata = { decimals: 6, symbol: 'COIN', name: 'Test Coin' };
    const blockNumber = await head(chain);
    expect(await readErc20Balance(node(), coin, deployer)).toEqual({
      balance: 1_500_000n,
      blockNumber,
      ...metadata,
    });
    const empty = await readErc20Balance(node(), coin, coin);
    expect(empty).toEqual({ balance: 0n, blockNumber, ...metadata });
  });

  const none = { decimals: null, symbol: null, name: null };
  test.for([
    ['texts in bytes32', 'OldCoin', { balance: 2n * 10n ** 18n, symbol: 'OLD', name: 'Old Coin' }],
    ['no metadata', 'BareCoin', { balance: 7n, ...none }],
    ['hostile metadata', 'HostileCoin', { balance: 2n ** 256n - 1n, ...none }],
    [
      'texts with NUL, and of a length beyond the answer',
      'LyingCoin',
      { balance: 1n, decimals: 255, symbol: 'AB', name: null },
    ],
    ['yes for every interface', 'YesCoin', { balance: 1n, decimals: 1 }],
  ] as const)(
    'is read from a contract with %s, and the node stays in use',
    async ([, name, expected], { chain }) => {
      expect(await read(chain, name)).toMatchObject(expected);
      await expectInUse();
    },
  );
});

/** Fails unless the node is the one that is asked. */
async function expectInUse(): Promise<void> {
  proxy.forget();
  await node().getBlockNumber();
  expect(proxy.methods()).toEqual(['eth_blockNumber']);
}

describe('no ERC-20', () => {
  test.for(['RevertingCoin', 'SilentRevertingCoin', 'InvalidOpcodeCoin', 'EndlessCoin', 'ShortCoin'])(
    'is a contract whose balanceOf fails, and the node stays in use: %s',
    async (name, { chain }) => {
      await expect(read(chain, name)).rejects.toMatchObject({
        name: 'NotErc20Error',
        message: expect.stringContaining('balanceOf'),
      });
      await expectInUse();
    },
  );

  test('is an ERC-721', async ({ chain }) => {
    await expect(read(chain, 'Picture')).rejects.toThrow('it is an ERC-721');
  });

  test.each([
    ['a wallet', deployer],
    ['an empty address', `0x${'e'.repeat(40)}`],
    ['the zero address', `0x${'0'.repeat(40)}`],
    ['a precompiled contract, which answers 32 bytes', `0x${'0'.repeat(39)}2`],
  ])('is %s', async (_what, address) => {
    await expect(readErc20Balance(node(), address, deployer)).rejects.toThrow('no code');
  });

  test('is a contract that sends us to a URL: nobody goes there', async ({ chain }) => {
    const visits: string[] = [];
    const trap = createServer((request) => visits.push(request.url ?? ''));
    const port = await startListening(trap);
    const coin = await deployed(chain, 'LookupCoin', [`http://127.0.0.1:${port}/{sender}/{data}`]);
    await expect(readErc20Balance(node(), coin, deployer)).rejects.toThrow('balanceOf fails');
    const call = { to: coin, data: `0x70a08231${deployer.slice(2).padStart(64, '0')}`, enableCcipRead: true };
    await expect(node().call(call)).rejects.toMatchObject({ code: 'CALL_EXCEPTION' });
    expect(visits).toEqual([]);
    trap.close();
  });
});

describe('a node that fails while it is asked for a balance', () => {
  test.for(['no state', 'drop', 'status 500'] as const)(
    'is no fault of the token: %s',
    async (failure, { chain }) => {
      const coin = await deployed(chain, 'Coin');
      proxy.setFlaws(failures[failure]);
      await expect(readErc20Balance(node(), coin, deployer)).rejects.not.toBeInstanceOf(NotErc20Error);
      proxy.setFlaws();
      expect(await readErc20Balance(node(), coin, deployer)).toMatchObject({ balance: 1_500_000n });
    },
  );
});
