import { expect } from 'vitest';
import { type CollectedSpan, startCollector } from '../support/collector.ts';
import { callNode, deployer } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { until } from '../support/minting.ts';
import { startNode } from '../support/node/node.ts';
import { startProcess } from '../support/process.ts';

const key = `a:${Buffer.alloc(32, 7).toString('base64')}`;
const secret = 'canary-of-the-node';

test('a batch of blocks is a trace, with the calls that read it and the statements that write it', async ({
  db,
  databaseUrl,
  chain,
}) => {
  const node = await startNode(chain.rpcUrl);
  await db('networks').insert({
    chain_id: '31337',
    name: 'Test chain',
    rpc_urls: [`${node.url}/${secret}`],
    data_provider: 'indexer',
    currency_name: 'Ether',
    currency_symbol: 'ETH',
    currency_decimals: 18,
    confirmations: 1,
    finality_depth: 64,
  });
  const pay = () =>
    callNode(chain.rpcUrl, 'eth_sendTransaction', [{ from: deployer, to: deployer, value: '0x1' }]);
  await pay();
  const collector = await startCollector();
  const indexer = startProcess(['src/main.ts'], {
    DATABASE_URL: databaseUrl,
    SECRET_KEYS: key,
    CURSOR_KEYS: key,
    KEY_ENVIRONMENT: 'test',
    ROLES: 'indexer',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const batches = () => collector.spans.filter(({ name }) => name === 'index blocks');
  await until('the first batch', async () => batches().length > 0);
  await pay();
  await until('the second batch', async () => batches().length > 1);
  await callNode(chain.rpcUrl, 'anvil_reorg', [1, []]);
  const followed = () => collector.spans.some(({ name }) => name === 'follow reorganisation');
  await until('the reorganisation', async () => followed());
  indexer.child.kill('SIGTERM');
  expect(await indexer.ended).toBe(0);

  const within = (batch: CollectedSpan | undefined) =>
    collector.spans.filter(({ parentSpanId }) => parentSpanId === batch?.spanId).map(({ name }) => name);
  const [first, second] = batches();
  const facts = (from: string, to: string) => ({
    'tallystick.chain_id': '31337',
    'tallystick.from_block': from,
    'tallystick.to_block': to,
  });
  expect(first).toMatchObject({ attributes: facts('0', '1'), parentSpanId: '', isFailed: false });
  expect(second).toMatchObject({ attributes: facts('2', '2'), parentSpanId: '' });
  expect(second?.traceId).not.toBe(first?.traceId);
  for (const batch of [first, second])
    expect(within(batch)).toEqual(
      expect.arrayContaining(['eth_getBlockByNumber', 'eth_getBlockReceipts', 'BEGIN', 'COMMIT']),
    );
  // Looks that found nothing new are in no trace.
  const roots = new Set(collector.spans.filter((span) => span.parentSpanId === '').map(({ name }) => name));
  expect([...roots].toSorted()).toEqual(['follow reorganisation', 'index blocks']);
  expect(indexer.output()).not.toContain(secret);
  expect(collector.requests.join('\n')).not.toContain(secret);
  await Promise.all([collector.close(), node.close()]);
});
