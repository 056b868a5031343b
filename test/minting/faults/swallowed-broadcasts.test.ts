import { afterEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { failure, of } from '../../support/node/flaw.ts';
import { tipFloor } from '../../support/node/limits.ts';
import { swallowsBroadcasts } from '../../support/node/wrongs.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
afterEach(() => setup.close());

const lane = () => setup.service.db('mint_lanes').first();

describe('a node that confirms broadcasts and sends them to nobody', () => {
  const floor = tipFloor({ least: 3_000_000_000n, say: () => 'nein' });
  test.each([
    ['after', [[floor], [swallowsBroadcasts]]],
    ['before', [[swallowsBroadcasts], [floor]]],
  ] as const)('does not hide that another one wants a higher tip (%s it)', async (_where, nodes) => {
    setup = await createMintSetup({ nodes });
    await setup.chain.call('evm_setAutomine', false);
    setup.chain.market.hold(1_000_000_000n);
    await setup.chain.mine(3);
    const ids = await setup.accept(2);
    setup.work();
    const mining = setup.keepMining();
    await until('the reason', async () => /nein/.test((await lane()).pause_detail ?? ''), 30);
    await setup.cli.json('network', 'update', '31337', '--min-tip', '3');
    await untilAll(setup.service, ids, 'minted', 60);
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('is the reason where there is no other, and another node ends it', async () => {
    setup = await createMintSetup({ nodes: [[swallowsBroadcasts]] });
    const { service } = setup;
    const ids = await setup.accept(2);
    setup.work();
    const mining = setup.keepMining();
    await until('the reason', async () => (await lane()).pause_reason === 'broadcast_refused', 30);
    expect((await lane()).pause_detail).toContain('do not have it');
    expect(await service.db('mint_notes')).toEqual([]);
    // Nothing shows that more would have to be paid.
    expect(await service.db('mint_attempts')).toHaveLength(1);
    const { status } = await setup.cli.json('network', 'update', '31337', '--rpc', setup.spare.url);
    expect(status).toBe(0);
    await untilAll(service, ids, 'minted', 30);
    await until('its end', async () => (await lane()).pause_reason === null);
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });
});

test('a node that does not say whether it has a transaction keeps it from no replacement', async () => {
  // As geth does after a snap sync, for hours.
  const indexing = of('eth_getTransactionByHash', () =>
    failure(-32000, 'transaction indexing is in progress'),
  );
  const seen = new Set<unknown>();
  const knows = of('eth_sendRawTransaction', ({ params: [raw] }) => {
    if (seen.has(raw)) return failure(-32000, 'already known');
    seen.add(raw);
    return undefined;
  });
  setup = await createMintSetup({ nodes: [[indexing, knows]] });
  const { chain, service } = setup;
  await chain.call('evm_setAutomine', false);
  chain.market.hold(1_000_000_000n);
  await chain.mine(3);
  const ids = await setup.accept(1);
  setup.work();
  await untilAll(service, ids, 'submitted');
  chain.market.hold(20_000_000_000n);
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted');
  mining.stop();
  expect(await setup.settle(ids)).toEqual([]);
});
