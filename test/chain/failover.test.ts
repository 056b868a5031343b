import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createRpcClients, type RpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { delay, type Failure, failures } from '../support/node/transport-flaws.ts';

// Long enough for a busy machine: only the tests of a node that hangs wait for it.
const timeoutMs = 1_500;
const patience = { interval: 2, timeout: 10_000 };
let first: TestNode;
let second: TestNode;
let clients: RpcClients;
let clock: number;
let logged: string;

test.beforeAll(async ({ chain }) => {
  first = await startNode(chain.rpcUrl);
  second = await startNode(chain.rpcUrl);
});
afterAll(async () => {
  await first.close();
  await second.close();
});
beforeEach(() => {
  clock = 0;
  logged = '';
  const write = (line: string) => {
    logged += line;
  };
  const log = createLogger({ level: 'info', destination: { write } });
  clients = createRpcClients({ timeoutMs, log, now: () => clock });
});
afterEach(() => {
  clients.close();
  for (const node of [first, second]) {
    node.setFlaws();
    node.forget();
  }
});

const secretPath = '/v2/s3cr3t-key';
const both = () => testNetwork([first.url + secretPath, second.url]);
const blockNumber = (network = both()) => clients.for(network).send('eth_blockNumber', []);

describe('a network with several nodes', () => {
  test('asks the first one, once its chain id is known to be right', async () => {
    expect(await blockNumber()).toBe('0x0');
    await blockNumber();
    expect(first.methods()).toEqual(['eth_chainId', 'eth_blockNumber', 'eth_blockNumber']);
    expect(second.methods()).toEqual([]);
  });

  test('goes on without a node whose address cannot be read, says why, and takes it once it can', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'tallystick-node-'));
    const file = path.join(folder, 'node');
    const network = testNetwork([`file:${file}`, second.url]);
    expect(await blockNumber(network)).toBe('0x0');
    const alone = testNetwork([`file:${file}`], { chainId: '5' });
    await expect(blockNumber(alone)).rejects.toThrow(
      `file:${file}: The file ${file}, which holds the address`,
    );
    writeFileSync(file, first.url);
    clock += 60_000;
    await expect
      .poll(() => blockNumber(network).then(() => first.methods()), patience)
      .toContain('eth_blockNumber');
    rmSync(folder, { recursive: true });
  });

  test('asks for the chain id again from time to time: a URL may come to lead elsewhere', async () => {
    await blockNumber();
    first.setFlaws(failures['wrong chain']);
    clock += 5 * 60_000;
    expect(await blockNumber()).toBe('0x0');
    expect(logged).toContain('the node serves chain 1, not 31337');
  });

  test.each<Failure>([
    'drop',
    'hang',
    'half',
    'html',
    'no json-rpc',
    'wrong id',
    'status 500',
    'status 429',
    'status 401',
    'rate limit',
    'redirect',
    'oversized',
    'gzip bomb',
    'wrong chain',
  ])('answers from the next one when the first fails: %s', async (failure) => {
    first.setFlaws(failures[failure]);
    expect(await blockNumber()).toBe('0x0');
    expect(second.methods()).toEqual(['eth_chainId', 'eth_blockNumber']);
    first.forget();
    await blockNumber();
    expect(first.methods()).toEqual([]);
  });

  test('answers from the next one when the first is not there at all', async () => {
    const network = testNetwork(['http://127.0.0.1:9', 'http://no-such-host.invalid', 'ftp://x', second.url]);
    expect(await blockNumber(network)).toBe('0x0');
  });

  test('asks elsewhere for what a node does not know yet, and goes on using it', async () => {
    first.setFlaws(failures['no state']);
    expect(await clients.for(both()).getBalance(`0x${'1'.repeat(40)}`, 0)).toBe(0n);
    first.setFlaws();
    second.forget();
    await blockNumber();
    expect(second.methods()).toEqual([]);
  });
});

describe('the failure of a node', () => {
  test('is logged once, without what may be secret in the URL', async () => {
    first.setFlaws(failures['wrong chain']);
    await Promise.all(Array.from({ length: 10 }, () => blockNumber()));
    const lines = logged.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      url: `${first.url}/[redacted]`,
      reason: 'wrong_chain',
      detail: 'the node serves chain 1, not 31337',
    });
    expect(logged).not.toContain('s3cr3t');
  });

  test('is told with its URL and reason when no other answers', async () => {
    first.setFlaws(failures['status 500']);
    second.setFlaws(failures['wrong chain']);
    await expect(blockNumber()).rejects.toMatchObject({
      name: 'NodesUnavailableError',
      retryable: true,
      attempts: [
        { url: `${first.url}/[redacted]`, message: 'HTTP status 500' },
        { url: second.url, message: 'the node serves chain 1, not 31337' },
      ],
    });
  });

  test('keeps nobody from trying it when no other is left', async () => {
    first.setFlaws(failures['status 500']);
    second.setFlaws(failures['status 500']);
    await expect(blockNumber()).rejects.toThrow('No node of network 31337 answered');
    second.setFlaws();
    expect(await blockNumber()).toBe('0x0');
  });
});

describe('a node that failed', () => {
  const failOnce = async () => {
    first.setFlaws(failures['status 500']);
    await blockNumber();
    first.forget();
  };
  const rest = async (ms: number) => {
    clock += ms;
    await blockNumber();
  };
  const chainIdAsked = () => vi.waitFor(() => expect(first.methods()).toContain('eth_chainId'), patience);

  test('rests, is looked after in the background, and then comes first again', async () => {
    await failOnce();
    first.setFlaws();
    await rest(4_999);
    expect(first.methods()).toEqual([]);
    await rest(1);
    await chainIdAsked();
    second.forget();
    await vi.waitFor(async () => {
      await blockNumber();
      expect(first.methods()).toContain('eth_blockNumber');
    }, patience);
    expect(logged).toContain('node is back');
  });

  test('rests ever longer, but never more than a minute', async () => {
    await failOnce();
    // Beside these the log tells, after a while, that the other node shows no new block.
    const told = (): { pauseMs: number }[] =>
      logged
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => msg === 'node failed');
    const pauses = [];
    for (let round = 1; round <= 8; round += 1) {
      const pauseMs = told().at(-1)?.pauseMs ?? 0;
      pauses.push(pauseMs);
      first.forget();
      // Nodes are polled every five seconds.
      await rest(Math.max(pauseMs, 5_000));
      // The look before may not have ended yet when it has told what it found; then the next question begins another.
      await vi.waitFor(async () => {
        await blockNumber();
        expect(told().length).toBeGreaterThan(round);
      }, patience);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  test('does not hold up any caller while it is looked after', async () => {
    await failOnce();
    first.setFlaws(failures.hang);
    clock += 5_000;
    const started = performance.now();
    await blockNumber();
    expect(performance.now() - started).toBeLessThan(timeoutMs);
    await chainIdAsked();
  });

  test('is not trusted before its chain id was asked again', async () => {
    await failOnce();
    first.setFlaws(failures['wrong chain']);
    await rest(5_000);
    await chainIdAsked();
    await vi.waitFor(() => expect(logged).toContain('wrong_chain'), patience);
    expect(await blockNumber()).toBe('0x0');
  });
});

describe('the clients', () => {
  test('are one for each network, and a new one when its URLs change', async () => {
    const before = clients.for(both());
    expect(clients.for(both())).toBe(before);
    expect(clients.for(testNetwork([second.url], { name: 'Renamed' }))).not.toBe(before);
    await blockNumber(testNetwork([second.url]));
    expect(first.methods()).toEqual([]);
  });

  test('let calls end that were in progress when the URLs changed', async () => {
    const release = delay(first, 'eth_gasPrice');
    const price = clients.for(both()).send('eth_gasPrice', []);
    await vi.waitFor(() => expect(first.methods()).toContain('eth_gasPrice'), patience);
    clients.for(testNetwork([second.url]));
    release();
    expect(await price).toMatch(/^0x/);
  });

  test('never go where a contract or a chain id would send ethers', () => {
    const provider = clients.for(testNetwork([first.url], { chainId: '137', hexChainId: '0x89' }));
    expect(provider).toMatchObject({ disableCcipRead: true });
    expect(provider._network.plugins).toEqual([]);
  });
});
