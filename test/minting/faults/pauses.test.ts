import { id, Wallet } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { useKey } from '../fault-kinds.ts';
import { createMintWorld, type MintWorld } from '../mint-world.ts';

let world: MintWorld;
let signer: string;
beforeEach(async () => {
  world = await createMintWorld();
  signer = new Wallet(world.chain.keys[0] ?? '').address;
});
afterEach(() => world.close());

const reason = async () => (await world.service.db('mint_lanes').first()).pause_reason;
const paused = (wanted: string | null) => until(`pause ${wanted}`, async () => (await reason()) === wanted);
const states = async () =>
  (await world.service.db('nfts').distinct('mint_state')).map(({ mint_state: state }) => state);

describe('a lane pauses, loses nothing, and goes on by itself when', () => {
  test('the balance is too low', async () => {
    await world.chain.call('anvil_setBalance', signer, '0x1');
    const ids = await world.accept(3);
    world.work();
    await paused('balance_too_low');
    expect(await states()).toEqual(['queued']);
    const readiness = await fetch(`${world.service.baseUrl}/readyz`);
    expect([readiness.status, await readiness.json()]).toMatchObject([
      503,
      { checks: { minting: 'failing' } },
    ]);
    await world.chain.call('anvil_setBalance', signer, '0x56bc75e2d63100000');
    await untilAll(world.service, ids, 'submitted');
    await paused(null);
    expect((await fetch(`${world.service.baseUrl}/readyz`)).status).toBe(200);
    expect(await world.settle(ids)).toEqual([]);
  });

  test('gas costs more than the cap', async () => {
    const ids = await world.accept(3);
    await world.chain.call('anvil_setNextBlockBaseFeePerGas', '0x2540be400');
    await world.chain.mine();
    world.work(undefined, { MINT_MAX_FEE_GWEI: '2' });
    await paused('fee_above_cap');
    expect(await states()).toEqual(['queued']);
    const mining = world.keepMining(50);
    await untilAll(world.service, ids, 'minted', 40);
    mining.stop();
    expect(await world.settle(ids)).toEqual([]);
  });

  test('the contract refuses the signer', async () => {
    await world.chain.admin('revokeRole', id('MINTER_ROLE'), signer);
    const ids = await world.accept(3);
    world.work();
    await paused('contract_refuses');
    expect(await states()).toEqual(['queued']);
    await world.chain.admin('grantRole', id('MINTER_ROLE'), signer);
    expect(await world.settle(ids)).toEqual([]);
    await paused(null);
  });

  test('an operator stopped it', async () => {
    await world.service.db('mint_lanes').update({ stopped_by_operator: true });
    const ids = await world.accept(3);
    world.work();
    await paused('operator');
    await world.service.db('mint_lanes').update({ stopped_by_operator: false });
    expect(await world.settle(ids)).toEqual([]);
  });

  test('somebody else uses the key: its nonces are left to the other, and no NFT is minted twice', async () => {
    const { chain } = world;
    await chain.call('evm_setAutomine', false);
    const ids = await world.accept(2);
    world.work();
    await untilAll(world.service, ids, 'submitted');
    // The other takes the very nonce of the first transaction that waits, and the one after the last.
    const sent = (await world.service.db('mint_transactions')).map((row) => Number(row.nonce));
    for (const nonce of [Math.min(...sent), Math.max(...sent) + 1]) {
      await useKey(world, chain.keys[0] ?? '', nonce);
    }
    const more = await world.accept(2);
    await paused('foreign_nonce');
    await chain.mine();
    expect(await world.settle([...ids, ...more])).toEqual([]);
    const ends = await world.service.db('mint_transactions').orderBy('nonce');
    expect(ends.filter(({ state }) => state === 'lost').map(({ nonce }) => Number(nonce))).toEqual([
      Math.min(...sent),
    ]);
  });
});
