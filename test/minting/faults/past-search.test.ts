import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../support/minting.ts';
import { rangesOf } from '../../support/node/limits.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup({ nodes: [[rangesOf(10n)]] });
  await setup.chain.call('anvil_mine', '0x200');
  await setup.chain.call('evm_setAutomine', false);
  await setup.service.db('mint_contracts').delete();
});
afterEach(() => setup.close());

const isSearching = () =>
  until('the reason', async () => {
    const lane = await setup.service.db('mint_lanes').first();
    return lane.pause_reason === 'history_searched';
  });
const asked = () => setup.node.questions.byMethod().get('eth_getLogs') ?? 0;

describe('the history of a contract, compared before the first mint on it, from a node that gives few blocks at once,', () => {
  test('costs a few questions for each block, and everything is minted once it is through', async () => {
    const ids = await setup.accept(2);
    setup.work();
    await isSearching();
    const polls = setup.node.questions.byMethod().get('eth_chainId') ?? 0;
    await until('more polls', async () => {
      return (setup.node.questions.byMethod().get('eth_chainId') ?? 0) > polls + 20;
    });
    expect(asked()).toBeGreaterThan(0);
    expect(asked()).toBeLessThanOrEqual(5);
    expect(await setup.service.db('mint_transactions')).toEqual([]);
    expect(await setup.settle(ids)).toEqual([]);
    expect(await setup.service.db('mint_contracts')).toMatchObject([{ state: 'claimed' }]);
    expect(await setup.service.db('mint_contract_origins')).toHaveLength(1);
  });

  test('is not taken for compared when the worker is told to stop half-way', async () => {
    const ids = await setup.accept(2);
    const worker = setup.work();
    await worker.until(/working/);
    await isSearching();
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    expect(await setup.service.db('mint_contracts')).toEqual([]);
    expect(await setup.settle(ids)).toEqual([]);
  });
});
