import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lies } from '../../support/lying-node.ts';
import { until } from '../../support/minting.ts';
import { createMintWorld, type MintWorld } from '../mint-world.ts';

let world: MintWorld;
beforeAll(async () => {
  world = await createMintWorld();
  await world.work().until(/working/);
});
afterAll(() => world.close());

describe('while the node', () => {
  test.each(lies.filter((lie) => lie !== 'no logs'))(
    '%s, nothing is minted twice or called failed, and after it everything is minted',
    async (lie) => {
      const { node, service } = world;
      const mining = world.keepMining();
      const before = await world.accept(2);
      node.lie(lie);
      const ids = [...before, ...(await world.accept(6))];
      await until(`${lie} was met`, async () => node.told() > 0);
      const states = await service.db('nfts').whereIn('id', ids).distinct('mint_state');
      expect(states.map(({ mint_state: state }) => state)).not.toContain('failed');
      mining.stop();
      expect(await world.settle(ids)).toEqual([]);
    },
    60_000,
  );

  test('shows no events of a token that was passed over, the NFT waits for them', async () => {
    await world.killAll();
    const ids = await world.accept(1);
    const before = await world.service.db('nfts').where({ id: ids[0] }).first();
    await world.chain.mintByHand(before.recipient, before.token_id);
    world.node.lie('no logs');
    const mining = world.keepMining();
    await world.work().until(/working/);
    await until('it was asked for', async () => world.node.told() >= 3);
    const row = await world.service.db('nfts').where({ id: ids[0] }).first();
    expect([row.mint_state, row.minted_tx]).toEqual(['submitted', null]);
    mining.stop();
    expect(await world.settle(ids)).toEqual([]);
  }, 60_000);
});
