import { afterEach, describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { insertNetwork } from '../../src/chain/network-store.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { createNetworkIndex } from '../../src/providers/indexer/network-index.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import {
  chainAround,
  hexOf,
  type OddChain,
  type OddNode,
  refusal,
  startOddNode,
} from '../support/odd-chain.ts';
import type { TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

const [payer, payee] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];
const blocks = chainAround({}, { payer, payee });
const whole: OddChain = { blocks };

let chains = 800_000;
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A network whose nodes have these chains, and its index. */
async function start(service: TestService, ...nodes: readonly OddChain[]) {
  chains += 1;
  const chainId = String(chains);
  const started: OddNode[] = [];
  for (const chain of nodes) started.push(await startOddNode(chainId, chain));
  const rpcUrls = started.map(({ url }) => url);
  const network = testNetwork(rpcUrls, { chainId, hexChainId: hexOf(chains), name: `Odd ${chainId}` });
  await insertNetwork(service.db, network);
  await waitFor(async () => expect(await service.parts.networks.find(chainId)).toBeDefined());
  const log = createLogger({ level: 'silent' });
  const clients = createRpcClients({ timeoutMs: 5_000, log });
  open.push(() => clients.close(), ...started.map(({ close }) => close));
  const settings = {
    startBlock: 0n,
    traceMethod: 'debug',
    parallel: 4,
    pollMs: 10,
    timeoutMs: 5_000,
  } as const;
  const index = createNetworkIndex({ network, settings, db: service.db, clients, log });
  const follower = index.createFollower();
  const get = (path: string, query: Record<string, string>) =>
    service
      .as(service.keys.noCompany)
      .get(`/blockchain/v1/api/${path}?${new URLSearchParams({ ...query, chainId })}`);
  return {
    nodes: started,
    clients,
    network,
    async follow() {
      while ((await follower.step()) !== 'idle');
    },
    balance: () => get('token/balance', { address: payer }),
    history: () => get('wallet/history', { address: payer }),
  };
}

describe('an unknown error of the first of two nodes', () => {
  test.for([
    [-32000, 'credits limited'],
    [-32000, 'limit exceeded'],
    [-32001, 'plan does not include this'],
    [-32603, 'something of its own'],
    [-32602, 'invalid argument 0'],
    [-39999, ''],
    [3, 'execution reverted'],
  ] as const)('keeps nobody from the second: %i %s', async ([code, words], { service }) => {
    const broken: OddChain = {
      blocks,
      answer: ({ method }) => (method === 'eth_chainId' ? undefined : refusal(code, words)),
    };
    const run = await start(service, broken, whole);
    expect((await run.balance().expect(200)).body).toMatchObject({ balance: '9000000000000000000' });
    await run.follow();
    const { body, headers } = await run.history().expect(200);
    expect(body.history.result).toHaveLength(2);
    expect(headers['x-index-traces']).toBe('all');
  });

  test('leaves it alone for a while', async ({ service }) => {
    const broken: OddChain = {
      blocks,
      answer: ({ method }) => (method === 'eth_chainId' ? undefined : refusal(-32000, 'credits limited')),
    };
    const { clients, network, nodes } = await start(service, broken, whole);
    for (let times = 0; times < 20; times += 1) await clients.for(network).getBlockNumber();
    expect(nodes[0]?.asked.filter((method) => method === 'eth_blockNumber').length).toBeLessThan(4);
  });

  test('is reported in its own words where there is no other', async ({ service }) => {
    const broken: OddChain = {
      blocks,
      answer: ({ method }) =>
        method === 'eth_getBlockByNumber' ? refusal(-32000, 'words of its own') : undefined,
    };
    const run = await start(service, broken);
    await expect(run.follow()).rejects.toMatchObject({ error: { message: 'words of its own' } });
    await run.balance().expect(200);
  });
});

/** Answers one question in so much time, and says of each other that it is asked too much. */
function limited(ms: number, how: 'status' | 'code'): OddChain {
  let last = Number.NEGATIVE_INFINITY;
  return {
    blocks,
    answer: () => {
      if (performance.now() - last < ms)
        return how === 'status' ? 'status 429' : refusal(-32005, 'in whatever words');
      last = performance.now();
      return undefined;
    },
  };
}

describe('a node that limits questions', () => {
  test('is asked more slowly, so that the index comes to its head, whether by status or code', async ({
    service,
  }) => {
    const indexWith = async (how: 'status' | 'code') => {
      const run = await start(service, limited(300, how));
      await expect
        .poll(
          () =>
            run.follow().then(
              () => 'done',
              () => 'failed',
            ),
          { timeout: 50_000, interval: 10 },
        )
        .toBe('done');
      expect((await run.history().expect(200)).body.history.result).toHaveLength(2);
      const asked = run.nodes[0]?.asked ?? [];
      expect(asked.filter((method) => method === 'eth_chainId').length).toBeLessThan(asked.length / 4);
    };
    await Promise.all([indexWith('status'), indexWith('code')]);
  });

  test('is looked at all the same: what is refused of a look is asked again, and nothing else', async ({
    service,
  }) => {
    const { clients, network } = await start(service, limited(300, 'code'));
    const pool = clients.pool(network);
    const rules = { confirmations: 1, finalityDepth: 2 };
    for (let look = 0; look < 3; look += 1) expect((await pool.pin(rules)).finalized).toBe(4n);
    expect(pool.status()).toMatchObject([{ state: 'usable' }]);
  });

  test('is not asked while there is another', async ({ service }) => {
    const { clients, network, nodes } = await start(service, limited(60_000, 'code'), whole);
    for (let times = 0; times < 20; times += 1) expect(await clients.for(network).getBlockNumber()).toBe(4);
    expect(nodes[0]?.asked.length).toBeLessThan(12);
  });
});
