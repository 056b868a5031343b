import { describe, expect } from 'vitest';
import { startIndexes } from '../../src/compose/indexer.ts';
import { createOperationsApp } from '../../src/compose/operations.ts';
import type { TestChain } from '../support/chain.ts';
import { callNode, deployer } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { until } from '../support/minting.ts';
import { startMoralisServer } from '../support/moralis-server.ts';
import { startNode } from '../support/node/node.ts';
import { failures } from '../support/node/transport-flaws.ts';
import type { TestService } from '../support/service.ts';

const test = base
  .extend('node', perFile, async ({ chain }, { onCleanup }) => {
    const node = await startNode(chain.rpcUrl);
    onCleanup(() => node.close());
    return node;
  })
  .extend('serviceOptions', perFile, async ({ node }, { onCleanup }) => {
    const moralis = await startMoralisServer({ histories: {}, nfts: {} });
    onCleanup(() => moralis.close());
    return {
      rpcUrl: node.url,
      moralis,
      databaseUser: 'test_indexing',
      settings: { INDEX_POLL_MS: '50' },
    } as const;
  })
  .extend('moralis', perFile, ({ serviceOptions }) => serviceOptions.moralis)
  .extend('indexes', { ...perFile, auto: true }, ({ service }, { onCleanup }) => {
    createOperationsApp(service.parts, { minter: undefined, isServing: () => true });
    const indexes = startIndexes(service.parts);
    onCleanup(() => indexes.stop(5_000));
    return indexes;
  });

/** The sum of a metric's values over the series whose labels begin with these. */
async function value({ parts }: TestService, name: string, labels = ''): Promise<number | undefined> {
  const { text } = await parts.metrics.scrape();
  const head = `tallystick_${name}${labels && `{${labels}`}`;
  const values = text.split('\n').filter((line) => line.startsWith(head));
  return values.length === 0
    ? undefined
    : values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
const local = 'chain_id="31337"';
const pay = (chain: TestChain) =>
  callNode(chain.rpcUrl, 'eth_sendTransaction', [{ from: deployer, to: deployer, value: '0x1' }]);

describe('the index', () => {
  test('tells how far it is, what it wrote, and what it took back', async ({ chain, service }) => {
    for (let count = 0; count < 3; count += 1) await pay(chain);
    await until('indexing', async () => (await value(service, 'index_block', local)) === 3);
    expect(await value(service, 'index_blocks_behind', local)).toBe(0);
    expect(await value(service, 'index_written_total', `${local},kind="blocks"`)).toBe(4);
    expect(await value(service, 'index_written_total', `${local},kind="transactions"`)).toBe(3);
    expect(await value(service, 'index_written_total', `${local},kind="transfers"`)).toBe(3);
    expect(await value(service, 'index_freshness_seconds_count', local)).toBeGreaterThan(0);
    await callNode(chain.rpcUrl, 'anvil_reorg', [1, []]);
    await until(
      'the reorganisation',
      async () => (await value(service, 'index_reorganisations_total', local)) === 1,
    );
  });

  test('tells of nodes that fail, and how long ago it last heard of one', async ({
    chain,
    service,
    node,
  }) => {
    const answered = await value(
      service,
      'node_answers_total',
      `${local},node="${node.url}",outcome="answered"`,
    );
    expect(answered).toBeGreaterThan(0);
    node.setFlaws(failures['status 500']);
    await until('a failure', async () => ((await value(service, 'index_failures_total', local)) ?? 0) > 0);
    expect(
      await value(service, 'node_answers_total', `${local},node="${node.url}",outcome="refused"`),
    ).toBeGreaterThan(0);
    node.setFlaws();
    await pay(chain);
    const { number } = await callNode<{ number: string }>(chain.rpcUrl, 'eth_getBlockByNumber', [
      'latest',
      false,
    ]);
    await until('going on', async () => (await value(service, 'index_block', local)) === Number(number));
    expect(await value(service, 'index_seen_seconds', local)).toBeLessThan(60);
  });
});

describe('what is asked by callers', () => {
  test('tells which keys were accepted, and which were not', async ({ service }) => {
    const before = (await value(service, 'key_verifications_total', 'outcome="accepted"')) ?? 0;
    await service.as(service.keys.acme).get('/v1/api/rwa').expect(200);
    await service.as(service.keys.revoked).get('/v1/api/rwa').expect(401);
    expect(await value(service, 'key_verifications_total', 'outcome="accepted"')).toBe(before + 1);
    expect(await value(service, 'key_verifications_total', 'outcome="invalid"')).toBe(1);
  });

  test('tells which requests were over the limit of their key', async ({ service }) => {
    const limited = await service.twin({ RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '1' });
    await limited.as(service.keys.globex).get('/v1/api/rwa').expect(200);
    await limited.as(service.keys.globex).get('/v1/api/rwa').expect(429);
    const series = 'area="rwa",operation="listRwas",code="rate_limited"';
    expect(await value(limited, 'http_problems_total', series)).toBe(1);
  });

  test('tells what the hosted data provider answered', async ({ service, moralis }) => {
    moralis.meet(503, 'none');
    const path = `/blockchain/v1/api/wallet/history?chainId=1&address=${deployer}`;
    await service.as(service.keys.acme).get(path).expect(200);
    expect(await value(service, 'moralis_requests_total', 'outcome="5xx"')).toBe(1);
    expect(await value(service, 'moralis_requests_total', 'outcome="2xx"')).toBe(1);
    moralis.meet(404);
    await service.as(service.keys.acme).get(path).expect(502);
    expect(await value(service, 'moralis_requests_total', 'outcome="4xx"')).toBe(1);
    // A pause that the upstream asked for is passed on.
    moralis.meet({ status: 429, retryAfter: '77' });
    const { headers } = await service.as(service.keys.acme).get(path).expect(502);
    expect(headers['retry-after']).toBe('77');
  });

  test('tells the circuit breaker of each that is called', async ({ service }) => {
    for (const callee of ['node', 'upstream']) {
      const { text } = await service.parts.metrics.scrape();
      expect(text).toMatch(
        new RegExp(
          `^tallystick_circuit_breakers\\{callee="${callee}",label="[^"]+",state="closed"\\} 1$`,
          'm',
        ),
      );
    }
  });
});
