import { Wallet } from 'ethers';
import { beforeAll, beforeEach, describe, expect, vi } from 'vitest';
import type { CompiledContract } from '../../scripts/solidity.ts';
import type { TestChain } from '../support/chain.ts';
import { callNode, deploy, deployer } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { delay, failures } from '../support/node/transport-flaws.ts';
import type { TestService } from '../support/service.ts';
import { compileContracts } from '../support/solidity.ts';
import { waitFor } from '../support/wait-for.ts';

const test = base
  .extend('node', perFile, async ({ chain }, { onCleanup }) => {
    const node = await startNode(chain.rpcUrl);
    onCleanup(() => node.close());
    return node;
  })
  .extend('serviceOptions', perFile, ({ node }) => ({
    rpcUrl: node.url,
    settings: { RPC_TIMEOUT_MS: '1500' },
    // A company has a quarter, in which there is room for three balances.
    fixed: { maxCacheBytes: 4 * 3 * 1_800 },
  }))
  .extend('coin', perFile, async ({ chain }) => deploy(chain.rpcUrl, (await compileContracts())['Coin']));

const path = '/blockchain/v1/api/token/balance';
let contracts: Readonly<Record<string, CompiledContract>>;
// Another wallet for each test, so that none finds another's balance in the cache.
let wallet: string;
let checksum: string;

beforeAll(async () => {
  contracts = await compileContracts();
});
beforeEach(() => {
  checksum = Wallet.createRandom().address;
  wallet = checksum.toLowerCase();
});
test.afterEach(async ({ service, node }) => {
  vi.useRealTimers();
  node.setFlaws();
  await served(service, { address: Wallet.createRandom().address }); // the node is known to be well again
  node.forget();
});

const get = (
  service: TestService,
  query: Readonly<Record<string, string>>,
  key: string = service.keys.acme,
) => service.as(key).get(`${path}?${new URLSearchParams(query)}`);
const ofWallet = (service: TestService, changes: Readonly<Record<string, string>> = {}) =>
  get(service, { address: wallet, chainId: '31337', ...changes });
/** Waits until the node is asked again, should it have been silent for too long. */
const served = (service: TestService, changes: Readonly<Record<string, string>> = {}) =>
  expect
    .poll(async () => (await ofWallet(service, changes)).status, { interval: 20, timeout: 10_000 })
    .toBe(200);
const setBalance = (chain: TestChain, address: string, amount: bigint) =>
  callNode(chain.rpcUrl, 'anvil_setBalance', [address, `0x${amount.toString(16)}`]);
// The case of every letter turned round: always wrong, unless all letters have one case.
const wrongChecksum = () =>
  `0x${checksum.slice(2).replace(/[a-f]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))}`;
const later = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });

describe('200', () => {
  test('tells the native balance in the smallest unit and formatted, without a contractAddress', async ({
    chain,
    service,
  }) => {
    await setBalance(chain, wallet, 1_250_000_000_000_000_001n);
    const { body } = await ofWallet(service).expect(200);
    expect(body).toEqual({
      chainId: 31337,
      address: wallet,
      balance: '1250000000000000001',
      decimals: 18,
      symbol: 'ETH',
      name: 'Ether',
      formatted: '1.250000000000000001',
      blockNumber: String(BigInt(await callNode<string>(chain.rpcUrl, 'eth_blockNumber', []))),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  test('tells the balance of an ERC-20, with its contractAddress', async ({ service, coin }) => {
    const { body } = await ofWallet(service, { address: deployer, contractAddress: coin }).expect(200);
    expect(body).toMatchObject({
      contractAddress: coin,
      balance: '1500000',
      decimals: 6,
      symbol: 'COIN',
      name: 'Test Coin',
      formatted: '1.5',
    });
  });

  test('takes addresses in any case and answers them in small letters', async ({ chain, service, coin }) => {
    await setBalance(chain, wallet, 0n);
    const capitals = `0x${coin.slice(2).toUpperCase()}`;
    const { body } = await ofWallet(service, { address: checksum, contractAddress: capitals }).expect(200);
    expect(body).toMatchObject({ address: wallet, contractAddress: coin, balance: '0', formatted: '0' });
  });

  test('takes an empty contractAddress for none', async ({ service }) => {
    const { body } = await ofWallet(service, { contractAddress: '' }).expect(200);
    expect(body).not.toHaveProperty('contractAddress');
  });

  test('has null for metadata that a token does not tell', async ({ chain, service }) => {
    const bare = await deploy(chain.rpcUrl, contracts['BareCoin']);
    const { body } = await ofWallet(service, { contractAddress: bare }).expect(200);
    expect(body).toMatchObject({ balance: '7', decimals: null, symbol: null, name: null, formatted: null });
  });

  test('needs no company', async ({ service }) => {
    await get(service, { address: wallet, chainId: '31337' }, service.keys.noCompany).expect(200);
  });
});

describe('200 from the cache', () => {
  test('gives the same answer for 60 seconds without asking the node, and says how old it is', async ({
    chain,
    service,
    node,
  }) => {
    await setBalance(chain, wallet, 1n);
    const first = await ofWallet(service).expect(200).expect('cache-control', 'private, max-age=60');
    expect(Number(first.headers['age'])).toBeLessThan(10);
    await setBalance(chain, wallet, 2n);
    node.forget();
    later(50_000);
    const second = await ofWallet(service, { address: checksum })
      .expect(200)
      .expect('cache-control', 'private, max-age=60');
    expect(second.body).toEqual(first.body);
    expect(Number(second.headers['age'])).toBeGreaterThanOrEqual(49);
    expect(node.methods()).toEqual([]);
  });

  test('asks the node again after 60 seconds', async ({ chain, service }) => {
    await setBalance(chain, wallet, 1n);
    const first = await ofWallet(service).expect(200);
    await setBalance(chain, wallet, 2n);
    later(60_001);
    const second = await ofWallet(service).expect(200);
    expect(Number(second.headers['age'])).toBeLessThan(10);
    expect(second.body.balance).toBe('2');
    expect(Date.parse(second.body.updatedAt)).toBeGreaterThan(Date.parse(first.body.updatedAt));
  });

  test('is kept for each wallet and for each contract by itself', async ({ service, coin }) => {
    await ofWallet(service, { address: deployer }).expect(200);
    const native = await ofWallet(service).expect(200);
    const token = await ofWallet(service, { contractAddress: coin }).expect(200);
    expect(native.body.symbol).toBe('ETH');
    expect(token.body.symbol).toBe('COIN');
  });

  test('comes from one question to the node for 50 concurrent requests', async ({ service, node }) => {
    const release = delay(node, 'eth_getBalance');
    const answers = Promise.all(Array.from({ length: 50 }, () => ofWallet(service).expect(200)));
    await waitFor(() => expect(node.methods()).toContain('eth_getBalance'));
    release();
    const bodies = (await answers).map(({ body }) => JSON.stringify(body));
    expect(new Set(bodies).size).toBe(1);
    expect(node.methods()).toEqual(['eth_blockNumber', 'eth_getBalance', 'eth_chainId']);
  });

  test('makes room for new balances when it is full', async ({ service, node }) => {
    const addresses = Array.from({ length: 4 }, () => Wallet.createRandom().address);
    for (const address of addresses) await ofWallet(service, { address }).expect(200);
    node.forget();
    const [oldest, ...others] = addresses;
    for (const address of others) await ofWallet(service, { address }).expect(200);
    expect(node.methods()).toEqual([]);
    await ofWallet(service, { address: oldest ?? '' }).expect(200);
    expect(node.methods()).toEqual(['eth_blockNumber', 'eth_getBalance', 'eth_chainId']);
  });
});

describe('400', () => {
  test.for([
    [{ address: '' }, 'address', 'Address is required'],
    [{ chainId: '' }, 'chainId', 'Network ID is required'],
  ] as const)('says what is missing: %j', async ([changes, name, message], { service }) => {
    const { body } = await ofWallet(service, changes).expect(400);
    expect(body).toMatchObject({ detail: message, errors: [{ in: 'query', name, message }] });
  });

  // What is no id of a network, the tests of the registry say.
  test.for(['1', '031337', '🪙'])('says that there is no network %j', async (chainId, { service }) => {
    const message = `Network with chainId ${chainId} not found`;
    const { body } = await ofWallet(service, { chainId }).expect(400);
    expect(body).toMatchObject({
      code: 'network_not_found',
      detail: message,
      errors: [{ in: 'query', name: 'chainId', message }],
    });
  });

  test('refuses a mixed-case address with a wrong checksum, naming each', async ({ service }) => {
    const wrong = wrongChecksum();
    const { body } = await ofWallet(service, { address: wrong, contractAddress: wrong, chainId: '5' }).expect(
      400,
    );
    expect(body).toMatchObject({
      code: 'input_invalid',
      detail: 'address has a wrong EIP-55 checksum',
      errors: [
        { in: 'query', name: 'address', message: 'address has a wrong EIP-55 checksum' },
        { in: 'query', name: 'contractAddress', message: 'contractAddress has a wrong EIP-55 checksum' },
        { in: 'query', name: 'chainId', message: 'Network with chainId 5 not found' },
      ],
    });
  });

  test.for([{ address: '0x12' }, { contractAddress: 'vitalik.eth' }, { token: deployer }])(
    'refuses %j, naming it',
    async (changes, { service }) => {
      const { body } = await ofWallet(service, changes).expect(400);
      expect(body).toMatchObject({
        code: 'input_invalid',
        errors: [{ in: 'query', name: Object.keys(changes)[0] }],
      });
    },
  );

  test('says that a contract is not an ERC-20 token', async ({ chain, service }) => {
    const address = await deploy(chain.rpcUrl, contracts['Picture']);
    const { body } = await ofWallet(service, { contractAddress: address }).expect(400);
    const detail = `Contract ${address} is not an ERC-20 token`;
    expect(body).toMatchObject({
      code: 'not_erc20',
      detail,
      errors: [{ name: 'contractAddress', message: detail }],
    });
  });

  test('says so of an address without code, and keeps no such answer', async ({ service, node }) => {
    const { body } = await ofWallet(service, { contractAddress: wallet }).expect(400);
    expect(body.detail).toBe(`Contract ${wallet} is not an ERC-20 token`);
    node.forget();
    await ofWallet(service, { contractAddress: wallet }).expect(400);
    expect(node.methods()).toContain('eth_getCode');
  });
});

describe('401', () => {
  test('comes before any other check', async ({ service, node }) => {
    const { body } = await get(service, { address: '', chainId: '5' }, service.keys.revoked).expect(401);
    expect(body.detail).toBe('Invalid API key.');
    expect(node.methods()).toEqual([]);
  });
});

describe('502', () => {
  /** Of a node that was silent for so long that nobody waits for it any more. */
  const expectRefusals = async (service: TestService, node: TestNode) => {
    node.forget();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ofWallet(service)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 502));
    expect(answers.map(({ headers }) => headers['retry-after'])).toEqual(answers.map(() => '1'));
    expect(node.methods()).toEqual([]);
  };

  test.for(['drop', 'hang'] as const)(
    'says that no node answers, and remembers no failure: %s',
    async (failure, { service, node, coin }) => {
      node.setFlaws(failures[failure]);
      for (const changes of [{}, { contractAddress: coin }]) {
        const { body, headers } = await ofWallet(service, changes).expect(502);
        expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
        expect(body).toMatchObject({ code: 'balance_unavailable', detail: 'Failed to fetch token balance.' });
      }
      if (failure === 'hang') await expectRefusals(service, node);
      node.setFlaws();
      await served(service);
      await ofWallet(service, { contractAddress: coin }).expect(200);
    },
  );

  test('says so of a node of another chain too, and tells nothing of the node', async ({ service, node }) => {
    node.setFlaws(failures['wrong chain']);
    const fresh = await service.twin();
    const query = new URLSearchParams({ address: wallet, chainId: '31337' });
    const { text } = await fresh.as(service.keys.acme).get(`${path}?${query}`).expect(502);
    expect(text).not.toMatch(/127\.0\.0\.1|serves chain/);
  });
});
