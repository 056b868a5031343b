import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readErc20Balance, readNativeBalance } from '../../src/chain/erc20.ts';
import { createRpcClients, type RpcClients } from '../../src/chain/rpc/rpc-clients.ts';
import { createLogger } from '../../src/log.ts';
import { startChain, type TestChain } from '../support/chain.ts';
import { callNode, deploy, deployer } from '../support/deploy.ts';
import { testNetwork } from '../support/networks.ts';
import { type NodeProxy, startNodeProxy } from '../support/node-proxy.ts';
import { type CompiledContract, compileContracts } from '../support/solidity.ts';

let chain: TestChain;
let proxy: NodeProxy;
let clients: RpcClients;
let contracts: Readonly<Record<string, CompiledContract>>;

beforeAll(async () => {
  contracts = await compileContracts();
  chain = await startChain();
  proxy = await startNodeProxy(chain.rpcUrl);
  clients = createRpcClients({ timeoutMs: 5_000, log: createLogger({ level: 'silent' }) });
});
afterAll(async () => {
  await chain.close();
  clients.close();
  await proxy.close();
});

const node = () => clients.for(testNetwork([proxy.url]));
const deployed = (name: string, texts: readonly string[] = []) =>
  deploy(chain.rpcUrl, contracts[name], texts);
const read = async (name: string) => readErc20Balance(node(), await deployed(name), deployer);
const head = async () => BigInt(await callNode<string>(chain.rpcUrl, 'eth_blockNumber', []));

describe('a native balance', () => {
  test('is that of the newest block, exactly', async () => {
    const poor = '0x00000000000000000000000000000000000000aa';
    const amount = 12_345_678_901_234_567_890_123n;
    await callNode(chain.rpcUrl, 'anvil_setBalance', [poor, `0x${amount.toString(16)}`]);
    expect(await readNativeBalance(node(), poor)).toEqual({ balance: amount, blockNumber: await head() });
  });
});

describe('the balance of an ERC-20', () => {
  test('comes with its metadata from one block', async () => {
    const coin = await deployed('Coin');
    const metadata = { decimals: 6, symbol: 'COIN', name: 'Test Coin' };
    const blockNumber = await head();
    expect(await readErc20Balance(node(), coin, deployer)).toEqual({
      balance: 1_500_000n,
      blockNumber,
      ...metadata,
    });
    const empty = await readErc20Balance(node(), coin, coin);
    expect(empty).toEqual({ balance: 0n, blockNumber, ...metadata });
  });

  test('has texts in bytes32 decoded', async () => {
    expect(await read('OldCoin')).toMatchObject({
      balance: 2n * 10n ** 18n,
      symbol: 'OLD',
      name: 'Old Coin',
    });
  });

  test('has null for metadata that is missing', async () => {
    expect(await read('BareCoin')).toMatchObject({ balance: 7n, decimals: null, symbol: null, name: null });
  });

  test('has null for metadata that is hostile, and the node stays in use', async () => {
    const balance = 2n ** 256n - 1n;
    expect(await read('HostileCoin')).toMatchObject({ balance, decimals: null, symbol: null, name: null });
    proxy.forget();
    await node().getBlockNumber();
    expect(proxy.asked).toEqual(['eth_blockNumber']);
  });

  test('has texts without NUL, and null for a length beyond the answer', async () => {
    expect(await read('LyingCoin')).toMatchObject({ balance: 1n, decimals: 255, symbol: 'AB', name: null });
  });

  test('is read from a contract that says yes to every interface', async () => {
    expect(await read('YesCoin')).toMatchObject({ balance: 1n, decimals: 1 });
  });
});

describe('no ERC-20', () => {
  test.each(['RevertingCoin', 'SilentRevertingCoin', 'InvalidOpcodeCoin', 'EndlessCoin', 'ShortCoin'])(
    'is a contract whose balanceOf fails, and the node stays in use: %s',
    async (name) => {
      await expect(read(name)).rejects.toMatchObject({
        name: 'NotErc20Error',
        message: expect.stringContaining('balanceOf'),
      });
      proxy.forget();
      await node().getBlockNumber();
      expect(proxy.asked).toEqual(['eth_blockNumber']);
    },
  );

  test('is an ERC-721', async () => {
    await expect(read('Picture')).rejects.toThrow('it is an ERC-721');
  });

  test.each([
    ['a wallet', deployer],
    ['an empty address', `0x${'e'.repeat(40)}`],
    ['the zero address', `0x${'0'.repeat(40)}`],
    ['a precompiled contract, which answers 32 bytes', `0x${'0'.repeat(39)}2`],
  ])('is %s', async (_what, address) => {
    await expect(readErc20Balance(node(), address, deployer)).rejects.toThrow('no code');
  });

  test('is a contract that sends us to a URL: nobody goes there', async () => {
    const visits: string[] = [];
    const trap = createServer((request) => visits.push(request.url ?? '')).listen(0, '127.0.0.1');
    await new Promise((resolve) => trap.once('listening', resolve));
    const address = trap.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const coin = await deployed('LookupCoin', [`http://127.0.0.1:${port}/{sender}/{data}`]);
    await expect(readErc20Balance(node(), coin, deployer)).rejects.toThrow('balanceOf fails');
    const call = { to: coin, data: `0x70a08231${deployer.slice(2).padStart(64, '0')}`, enableCcipRead: true };
    await expect(node().call(call)).rejects.toMatchObject({ code: 'CALL_EXCEPTION' });
    expect(visits).toEqual([]);
    trap.close();
  });
});

describe('a node that fails while it is asked for a balance', () => {
  test.each(['no state', 'rate limit', 'drop', 'status 500'] as const)(
    'is no fault of the token: %s',
    async (failure) => {
      const coin = await deployed('Coin');
      proxy.fail(failure);
      await expect(readErc20Balance(node(), coin, deployer)).rejects.toMatchObject({
        name: 'NodesUnavailableError',
      });
      proxy.fail('none');
      expect(await readErc20Balance(node(), coin, deployer)).toMatchObject({ balance: 1_500_000n });
    },
  );
});
