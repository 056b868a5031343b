import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../support/minting.ts';
import { lieNames } from '../../support/node/lies.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeAll(async () => {
  setup = await createMintSetup();
  await setup.work().until(/working/);
});
afterAll(() => setup.close());

describe('while the node', () => {
  test.each(lieNames.filter((lie) => lie !== 'no logs'))(
    '%s, nothing is minted twice or called failed, and after it everything is minted',
    async (lie) => {
      const { node, service } = setup;
      const mining = setup.keepMining();
      const before = await setup.accept(2);
      node.lie(lie);
      const ids = [...before, ...(await setup.accept(6))];
      await until(`${lie} was met`, async () => node.told() > 0);
      const states = await service.db('nfts').whereIn('id', ids).distinct('mint_state');
      expect(states.map(({ mint_state: state }) => state)).not.toContain('failed');
      mining.stop();
      expect(await setup.settle(ids)).toEqual([]);
    },
  );

  test('shows no events of a token that was passed over, the NFT waits for them', async () => {
    await setup.killAll();
    const ids = await setup.accept(1);
    const before = await setup.service.db('nfts').where({ id: ids[0] }).first();
    await setup.chain.mintByHand(before.recipient, before.token_id);
    // The audit may have compared the mints of the cases before; without that, the next worker does.
    await setup.service.db('mint_contracts').update({ compared_to: null });
    setup.node.lie('no logs');
    const mining = setup.keepMining();
    await setup.work().until(/working/);
    await until(
      'the pause',
      async () => (await setup.service.db('mint_contracts').first()).pause_reason !== null,
    );
    const row = await setup.service.db('nfts').where({ id: ids[0] }).first();
    // Many mints of the cases before have no events either, so nothing new is sent to the contract.
    expect([row.mint_state, row.minted_tx]).toEqual(['queued', null]);
    const { pause_reason: reason, pause_detail: detail } = await setup.service.db('mint_contracts').first();
    expect([reason, detail]).toEqual([
      'history_unavailable',
      expect.stringContaining('have owners and no events of their mints'),
    ]);
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });
});
