import { afterAll, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { readAtAgreedBlock } from '../../src/chain/holdings/agreed-block.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { callNode } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';

const clients = createRpcClients({ timeoutMs: 1_000, log: createLogger({ level: 'silent' }) });
afterAll(() => clients.close());

test('reads at the newest confirmed block', async ({ chain }) => {
  await callNode(chain.rpcUrl, 'anvil_mine', ['0x9']);
  const network = { ...testNetwork([chain.rpcUrl]), confirmations: 4 };
  const block = await readAtAgreedBlock({ clients, network, known: undefined }, async (_node, at) => at);
  expect([block.chainId, block.number]).toEqual(['31337', 6n]);
});

test('does not take what it read for true when the chain replaced the block meanwhile', async ({ chain }) => {
  await callNode(chain.rpcUrl, 'anvil_mine', ['0x3']);
  const network = { ...testNetwork([chain.rpcUrl]), confirmations: 1 };
  const reading = readAtAgreedBlock({ clients, network, known: undefined }, async () => {
    await callNode(chain.rpcUrl, 'anvil_rollback', [1]);
    await callNode(chain.rpcUrl, 'anvil_setNonce', ['0x00000000000000000000000000000000000000aa', '0x1']);
    await callNode(chain.rpcUrl, 'anvil_mine', ['0x1', '0x64']);
  });
  await expect(reading).rejects.toThrow('was replaced');
});

test.for([
  [{ disagreement: 'Nodes disagree on block 5.' }, 'the nodes of the network with chainId 31337 disagree'],
  [{ rolledBack: 'Block 5 was final.' }, 'a final block of the network with chainId 31337 was replaced'],
] as const)('reads nothing with %j', async ([found, reason], { chain }) => {
  const network = testNetwork([chain.rpcUrl]);
  const pool = clients.pool(network);
  const doubtful = {
    pool: () => ({
      ...pool,
      pin: async (rules: Parameters<typeof pool.pin>[0]) => ({ ...(await pool.pin(rules)), ...found }),
    }),
  };
  const reading = readAtAgreedBlock({ clients: doubtful, network, known: undefined }, async () => 'read');
  await expect(reading).rejects.toMatchObject({ reason });
});
