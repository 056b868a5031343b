import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { inScope } from '../../src/base/request-scope.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { testNetwork } from '../support/networks.ts';
import { of } from '../support/node/flaw.ts';
import { startNode } from '../support/node/node.ts';
import { bareChain } from '../support/node/transport-flaws.ts';

const signal = AbortSignal.any([]);
const method = 'eth_getBalance';

test('the questions of a company are asked while very many of another one wait for a node', async () => {
  const node = await startNode(bareChain(31_337n));
  const clients = createRpcClients({ timeoutMs: 60_000, log: createLogger({ level: 'silent' }) });
  onTestFinished(() => node.close());
  onTestFinished(() => clients.close());
  const held = Promise.withResolvers<void>();
  node.setFlaws(of(method, () => held.promise.then(() => ({ result: '0x1' }))));
  const network = testNetwork([node.url]);
  const ask = (tenant: string, account: string) =>
    inScope({ tenant, signal, isRead: true }, () => clients.for(network).send(method, [account, 'latest']));
  const accountOf = (place: number) => `0x${place.toString(16).padStart(40, '0')}`;
  const greedy = Array.from({ length: 500 }, (_, place) => ask('greedy', accountOf(place)));
  await expect.poll(() => node.count(method)).toBeGreaterThan(20);
  const asked = ask('small', accountOf(1_000));
  await expect
    .poll(() => node.asked.filter((each) => each.method === method).map(({ params }) => params[0]))
    .toContain(accountOf(1_000));
  held.resolve();
  expect(await asked).toBe('0x1');
  await Promise.all(greedy);
});
