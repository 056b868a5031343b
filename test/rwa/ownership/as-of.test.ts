import { expect, onTestFinished } from 'vitest';
import { startNode } from '../../support/node/node.ts';
import { follow, issue, test } from './ownership-setup.ts';

test('no node is asked for the block of a moment while a transaction is open', async ({
  service,
  tokens,
}) => {
  const { rwa } = await issue(service, tokens.contract, 1);
  await tokens.mine(3);
  await follow(service);
  let open = 0;
  const node = await startNode(tokens.rpcUrl, async () => {
    const { rows } = await service.db.raw(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
    );
    open += rows.length;
    return undefined;
  });
  onTestFinished(async () => {
    await service.db('networks').update({ rpc_urls: [tokens.rpcUrl] });
    await service.db('ownership_snapshots').where({ taken_at: null }).delete();
    await node.close();
  });
  await service.db('networks').update({ rpc_urls: [node.url] });
  const twin = await service.twin();
  const client = twin.as(twin.keys.acme);
  const past = `0x${((await tokens.head()) - 1n).toString(16)}`;
  const block = await tokens.call<{ timestamp: string }>('eth_getBlockByNumber', past, false);
  const asOf = new Date(Number(block.timestamp) * 1_000).toISOString();
  await client.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({ asOf }).expect(202);
  await client.get(`/v1/api/rwa/${rwa.id}/holders?asOf=${asOf}`).expect(200);
  expect(node.count('eth_getBlockByNumber')).toBeGreaterThan(0);
  expect(open).toBe(0);
});
