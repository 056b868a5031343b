import { afterEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { createMintWorld, type MintWorld } from '../mint-world.ts';

let world: MintWorld;
afterEach(() => world.close());

const tally = async () => {
  const rows = await world.service.db('mint_transactions').select('signer', 'nonce');
  return Map.groupBy(rows, ({ signer }) => signer);
};

describe('workers', () => {
  test('at once, on one signer: one has the lane, the other takes it when that one dies', async () => {
    world = await createMintWorld();
    const workers = [world.work(), world.work()];
    await Promise.all(workers.map((worker) => worker.until(/working/)));
    const mining = world.keepMining();
    const ids = await world.accept(10);
    await untilAll(world.service, ids, 'minted');
    const { holder } = await world.service.db('mint_lanes').first();
    const owner = workers.find(({ child }) => holder.endsWith(` ${child.pid}`));
    owner?.child.kill('SIGKILL');
    ids.push(...(await world.accept(10)));
    await untilAll(world.service, ids, 'minted');
    mining.stop();
    const { holder: next } = await world.service.db('mint_lanes').first();
    expect(next).not.toBe(holder);
    expect(await world.settle(ids)).toEqual([]);
  });

  test('at once, on three signers: all of them mint, each with nonces without a gap', async () => {
    world = await createMintWorld({ minters: 3 });
    const workers = [world.work(), world.work()];
    await Promise.all(workers.map((worker) => worker.until(/working/)));
    const mining = world.keepMining();
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1) ids.push(...(await world.accept(12)));
    mining.stop();
    expect(await world.settle(ids)).toEqual([]);
    const lanes = await tally();
    expect(lanes.size).toBe(3);
    for (const rows of lanes.values()) {
      const nonces = rows.map(({ nonce }) => Number(nonce)).toSorted((a, b) => a - b);
      expect(nonces).toEqual(nonces.map((_, index) => index));
    }
  });

  test('one that is told to stop gives its lane back at once, with nothing half done', async () => {
    world = await createMintWorld();
    const first = world.work(undefined, { MINT_LEASE_SECONDS: '600' });
    await first.until(/working/);
    const ids = await world.accept(10);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(await world.service.db('mint_lanes').first()).toMatchObject({ holder: null, expires_at: null });
    expect(await world.settle(ids)).toEqual([]);
  });

  test('one that was away for longer than its lease writes nothing more', async () => {
    world = await createMintWorld();
    const first = world.work();
    await first.until(/working/);
    await world.chain.call('evm_setAutomine', false);
    const ids = await world.accept(4);
    await untilAll(world.service, ids, 'submitted');
    first.child.kill('SIGSTOP');
    const second = world.work();
    await until('the lane is taken over', async () => {
      const { holder } = await world.service.db('mint_lanes').first();
      return holder?.endsWith(` ${second.child.pid}`) === true;
    });
    ids.push(...(await world.accept(4)));
    first.child.kill('SIGCONT');
    expect(await world.settle(ids)).toEqual([]);
  });
});
