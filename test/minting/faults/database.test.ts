import { afterEach, describe, expect, test } from 'vitest';
import { createTemplate } from '../../support/database.ts';
import { until, untilAll } from '../../support/minting.ts';
import { startPostgres, type TestPostgres } from '../../support/postgres.ts';
import { createMintWorld, type MintWorld } from '../mint-world.ts';

let world: MintWorld;
let postgres: TestPostgres | undefined;
afterEach(async () => {
  await world.close();
  await postgres?.close();
  postgres = undefined;
});

describe('the database', () => {
  test.each(['SIGINT', 'SIGQUIT'] as const)(
    'that is started again in mid-job, after %s: mints go on when it is back',
    async (signal) => {
      postgres = await startPostgres({ isDurable: true });
      await createTemplate(postgres.url);
      world = await createMintWorld({ postgresUrl: postgres.url });
      const workers = [world.work(), world.work()];
      await Promise.all(workers.map((worker) => worker.until(/working/)));
      const mining = world.keepMining();
      const ids: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        ids.push(...(await world.accept(5)));
        await postgres.restart(signal);
        await until('connections', () => world.service.db.raw('SELECT 1').then(Boolean, () => false));
      }
      await untilAll(world.service, ids, 'minted', 40);
      // None of them ended for it.
      expect(world.running()).toHaveLength(2);
      mining.stop();
      expect(await world.settle(ids)).toEqual([]);
    },
    120_000,
  );

  test('loses every connection again and again: mints go on when it is back', async () => {
    world = await createMintWorld();
    await world.work().until(/working/);
    const mining = world.keepMining();
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      ids.push(...(await world.accept(5)));
      await world.service.db.raw(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
    }
    mining.stop();
    expect(await world.settle(ids)).toEqual([]);
  });
});

describe('the tables of the queue', () => {
  test('emptied under way: nothing is lost, what is true stands in ours', async () => {
    world = await createMintWorld();
    await world.work().until(/working/);
    const ids = await world.accept(6);
    await world.service.db.raw('TRUNCATE pgboss.job CASCADE');
    ids.push(...(await world.accept(3)));
    expect(await world.settle(ids)).toEqual([]);
  });

  test('gone with everything in them: what was accepted before is minted, and asked for again', async () => {
    world = await createMintWorld();
    const { service } = world;
    const ids = await world.accept(4);
    await service.db.raw('DROP SCHEMA pgboss CASCADE');
    // As if they had waited for long: the jobs are made anew for them.
    await service.db('nfts').update({ queued_at: service.db.raw("now() - interval '1 hour'") });
    await world.chain.call('evm_setAutomine', false);
    await world.work().until(/working/);
    expect(await world.settle(ids)).toEqual([]);
  });
});
