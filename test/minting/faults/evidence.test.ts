import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll, untilInPool } from '../../support/minting.ts';
import { useKey } from '../fault-kinds.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const states = async () =>
  (await setup.service.db('mint_transactions').orderBy('nonce')).map(({ state }) => state);

describe('a contract that mints nothing', () => {
  /** The next blocks run other code in the place of the contract. */
  const withCode = async (code: string, act: () => Promise<void>) => {
    const { chain } = setup;
    const real = await chain.call<string>('eth_getCode', chain.contract, 'latest');
    await chain.call('anvil_setCode', chain.contract, code);
    await act();
    await chain.call('anvil_setCode', chain.contract, real);
  };
  const mineWithCode = async (code: string) => {
    const { chain } = setup;
    await untilInPool(chain);
    await withCode(code, () => chain.mine());
  };
  const stop = '0x00';
  const revert = '0x60006000fd';

  test.each([
    ['passes tokens over', stop, ['finalized', 'finalized', 'finalized']],
    ['reverts', revert, ['reverted', 'finalized', 'finalized']],
  ])('but %s, is asked again once that is final, for each token apart', async (_what, code, ends) => {
    await setup.chain.call('evm_setAutomine', false);
    const ids = await setup.accept(2);
    setup.work();
    await untilAll(setup.service, ids, 'submitted');
    await mineWithCode(code);
    expect(await setup.settle(ids)).toEqual([]);
    expect(await states()).toEqual(ends);
    const released = await setup.service.db('mint_transaction_nfts').where({ state: 'released' });
    expect(released).toHaveLength(2);
  });

  test('twice, is not asked for ever: the NFT fails with that reason, and may be asked for again', async () => {
    const { chain, service } = setup;
    await chain.call('evm_setAutomine', false);
    const [id = ''] = await setup.accept(1);
    setup.work();
    await untilAll(service, [id], 'submitted');
    await mineWithCode(stop);
    await chain.mine(3);
    // No block comes from here until the second transaction meets the same.
    await until('it is sent again', async () => (await states()).length === 2);
    await mineWithCode(stop);
    await chain.mine(3);
    const row = () => service.db('nfts').where({ id }).first();
    await until('its end', async () => (await row()).mint_state === 'failed');
    const { mint_error: reason, recipient } = await row();
    expect(reason).toMatch(
      /^The contract passed the mint over 2 times, last in transaction 0x[0-9a-f]{64}\.$/,
    );
    const { body } = await service.as(service.keys.acme).get(`/v1/api/nft/${id}`).expect(200);
    await service
      .as(service.keys.acme)
      .post(`/v1/api/nft/${id}/mint`)
      .send({ secret: body.secret, recipient })
      .expect(200);
    expect(await setup.settle([id])).toEqual([]);
  });
});

describe('a nonce', () => {
  test('is not given up for a receipt that is unclear, whatever else a node says', async () => {
    const mining = setup.keepMining();
    const ids = await setup.accept(3);
    setup.node.lie('other chain');
    setup.work();
    await untilAll(setup.service, ids, 'submitted');
    // Long enough for the transaction to be final on the real chain, and looked at then.
    const block = BigInt(await setup.chain.call<string>('eth_blockNumber'));
    await until('finality', async () => BigInt(await setup.chain.call('eth_blockNumber')) > block + 6n);
    const told = setup.node.told();
    await until('looks', async () => setup.node.told() > told + 10);
    expect(await states()).toEqual(['submitted']);
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
    expect(await states()).toEqual(['finalized']);
  });

  test('that somebody else used is passed over only when that is final, so no gap is left', async () => {
    const { chain, service } = setup;
    const first = await setup.accept(1);
    setup.work();
    expect(await setup.settle(first)).toEqual([]);
    await useKey(setup, chain.keys[0] ?? '', 1);
    const second = await setup.accept(1);
    await until('the lane pauses', async () => {
      const { pause_reason: reason } = await service.db('mint_lanes').first();
      return reason === 'foreign_nonce';
    });
    await chain.call('anvil_reorg', 1, []);
    expect(await setup.settle([...first, ...second])).toEqual([]);
    const nonces = await service.db('mint_transactions').orderBy('nonce');
    expect(nonces.map(({ nonce }) => Number(nonce))).toEqual([0, 1]);
  });
});
