import { afterEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
afterEach(() => setup.close());

const tally = async () => {
  const rows = await setup.service.db('mint_transactions').select('signer', 'nonce');
  return Map.groupBy(rows, ({ signer }) => signer);
};

describe('workers', () => {
  test('at once, on one signer: one has the lane, the other takes it when that one dies', async () => {
    setup = await createMintSetup();
    const workers = [setup.work(), setup.work()];
    await Promise.all(workers.map((worker) => worker.until(/working/)));
    const mining = setup.keepMining();
    const ids = await setup.accept(10);
    await untilAll(setup.service, ids, 'minted');
    const { holder } = await setup.service.db('mint_lanes').first();
    const owner = workers.find(({ child }) => holder.endsWith(` ${child.pid}`));
    owner?.child.kill('SIGKILL');
    ids.push(...(await setup.accept(10)));
    await untilAll(setup.service, ids, 'minted');
    mining.stop();
    const { holder: next } = await setup.service.db('mint_lanes').first();
    expect(next).not.toBe(holder);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('at once, on three signers: all of them mint, each with nonces without a gap', async () => {
    setup = await createMintSetup({ minters: 3 });
    const workers = [setup.work(), setup.work()];
    await Promise.all(workers.map((worker) => worker.until(/working/)));
    const mining = setup.keepMining();
    const ids: string[] = [];
    // A lane that gets its turn late on a busy machine must not find everything taken.
    for (let round = 0; round < 5 || (await tally()).size < 3; round += 1)
      ids.push(...(await setup.accept(12)));
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
    const lanes = await tally();
    expect(lanes.size).toBe(3);
    for (const rows of lanes.values()) {
      const nonces = rows.map(({ nonce }) => Number(nonce)).toSorted((a, b) => a - b);
      expect(nonces).toEqual(nonces.map((_, index) => index));
    }
  });

  test('one that is told to stop gives its lane back at once, with nothing half done', async () => {
    setup = await createMintSetup();
    const first = setup.work(undefined, {}, { mintLeaseSeconds: 600 });
    await first.until(/working/);
    const ids = await setup.accept(10);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(await setup.service.db('mint_lanes').first()).toMatchObject({ holder: null, expires_at: null });
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('one that was away for longer than its lease writes nothing more', async () => {
    setup = await createMintSetup();
    const first = setup.work();
    await first.until(/working/);
    await setup.chain.call('evm_setAutomine', false);
    const ids = await setup.accept(4);
    await untilAll(setup.service, ids, 'submitted');
    first.child.kill('SIGSTOP');
    const second = setup.work();
    await until('the lane is taken over', async () => {
      const { holder } = await setup.service.db('mint_lanes').first();
      return holder?.endsWith(` ${second.child.pid}`) === true;
    });
    ids.push(...(await setup.accept(4)));
    first.child.kill('SIGCONT');
    expect(await setup.settle(ids)).toEqual([]);
  });
});
