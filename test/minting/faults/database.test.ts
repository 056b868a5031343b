import { afterEach, describe, expect, test } from 'vitest';
import { prepareDatabase } from '../../../src/compose/migrate.ts';
import { startGate } from '../../keys/tcp-gate.ts';
import { createTemplate } from '../../support/database.ts';
import { until, untilAll, untilInPool } from '../../support/minting.ts';
import { startPostgres, type TestPostgres } from '../../support/postgres.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
let postgres: TestPostgres | undefined;
afterEach(async () => {
  await setup.close();
  await postgres?.close();
  postgres = undefined;
});

describe('the database', () => {
  test.each(['SIGINT', 'SIGQUIT'] as const)(
    'that is started again in mid-job, after %s: mints go on when it is back',
    async (signal) => {
      postgres = await startPostgres({ isDurable: true });
      await createTemplate(postgres.url);
      setup = await createMintSetup({ postgresUrl: postgres.url });
      const workers = [setup.work(), setup.work()];
      await Promise.all(workers.map((worker) => worker.until(/working/)));
      const mining = setup.keepMining();
      const ids: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        ids.push(...(await setup.accept(5)));
        await postgres.restart(signal);
        await until('connections', () => setup.service.db.raw('SELECT 1').then(Boolean, () => false));
      }
      await untilAll(setup.service, ids, 'minted', 40);
      // None of them ended for it.
      expect(setup.running()).toHaveLength(2);
      mining.stop();
      expect(await setup.settle(ids)).toEqual([]);
    },
  );
});

describe('a network that loses every connection to the database in silence', () => {
  test('leaves the lane with its worker, which goes on when the limit for lost connections is over', async () => {
    setup = await createMintSetup();
    const gate = await startGate(setup.service.databaseUrl);
    const worker = setup.work(undefined, { DATABASE_URL: gate.through(setup.service.databaseUrl) });
    await worker.until(/working/);
    const mining = setup.keepMining();
    const ids = await setup.accept(3);
    await untilAll(setup.service, ids, 'minted');
    gate.lose();
    ids.push(...(await setup.accept(3)));
    // 40 s are promised, and then the mints take theirs.
    await untilAll(setup.service, ids, 'minted', 60);
    mining.stop();
    expect(setup.running()).toEqual([worker]);
    expect(await setup.settle(ids)).toEqual([]);
    await setup.killAll();
    await gate.close();
  });
});

describe('the tables of the queue', () => {
  test('gone with everything in them: what was accepted before is minted, and asked for again', async () => {
    setup = await createMintSetup();
    const { service } = setup;
    const ids = await setup.accept(4);
    await service.db.raw('DROP SCHEMA pgboss CASCADE');
    // A worker may not create them: an operator runs `tallystick migrate`.
    await prepareDatabase(service.db);
    await setup.chain.call('evm_setAutomine', false);
    await setup.work().until(/working/);
    expect(await setup.settle(ids)).toEqual([]);
  });
});

test('a row that was changed by hand keeps no other mint waiting', async () => {
  setup = await createMintSetup();
  const { chain, service } = setup;
  const code = await chain.call('eth_getCode', chain.contract, 'latest');
  await chain.call('evm_setAutomine', false);
  const [changed = ''] = await setup.accept(1);
  setup.work();
  await untilAll(service, [changed], 'submitted');
  await untilInPool(chain);
  // What became of it cannot be proven.
  await chain.call('anvil_setCode', chain.contract, '0x');
  await chain.mine(6);
  await until('the wait', async () => (await service.db('mint_unproven_transactions')).length === 1);
  await service.db('nfts').where({ id: changed }).update({ mint_state: 'failed' });
  await chain.call('anvil_setCode', chain.contract, code);
  await chain.call('evm_setAutomine', true);
  const others = await setup.accept(2);
  const mining = setup.keepMining();
  await untilAll(service, others, 'minted');
  await until(
    'finality',
    async () => (await service.db('mint_transactions').where({ state: 'finalized' })).length > 1,
  );
  expect((await service.db('mint_lanes').first()).pause_reason).toBeNull();
  // A question that failed rests before it is asked again.
  await expect.poll(() => setup.running()[0]?.output()).toContain('outcome of mints cannot be stored');
  mining.stop();
});
