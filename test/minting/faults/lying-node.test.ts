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
    setup.node.lie('no logs');
    const mining = setup.keepMining();
    await setup.work().until(/working/);
    await until('it was asked for', async () => setup.node.told() >= 3);
    const row = await setup.service.db('nfts').where({ id: ids[0] }).first();
    expect([row.mint_state, row.minted_tx]).toEqual(['submitted', null]);
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });
});
